#include "store/blobs/file_blob_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/descriptor.h"

namespace agentrt::store {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCheckBytes = 256 << 10;  // per read while a digest is verified

std::unexpected<Error> disk_error(std::string_view what, const std::string& path) {
  const int error = errno;
  const Code code = error == ENOSPC || error == EDQUOT ? Code::storage_full : Code::unavailable;
  return fail(code,
              fmt::format("cannot {} {}: {}", what, path, std::generic_category().message(error)));
}

std::unexpected<Error> damaged(const Digest& digest, std::string_view what) {
  return fail(Code::internal,
              fmt::format("the stored bytes sha256:{} {}", hex(bytes_of(digest)), what),
              fmt::format(R"({{"digest":"sha256:{}"}})", hex(bytes_of(digest))));
}

Result<void> sync_folder(const std::string& path) {
  const Descriptor folder{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!folder || ::fsync(folder.get()) != 0) return disk_error("sync", path);
  return {};
}

// Creates the folder durably if it is missing.
Result<void> make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0) return sync_folder(fs::path(path).parent_path().string());
  if (errno != EEXIST) return disk_error("make", path);
  return {};
}

Result<void> write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return disk_error("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

// Reads up to out.size() bytes, fewer only at the end of the file.
Result<std::size_t> read_at(int fd, std::uint64_t offset, std::string& out,
                            const std::string& path) {
  std::size_t got = 0;
  while (got < out.size()) {
    const ssize_t n =
        ::pread(fd, out.data() + got, out.size() - got, static_cast<off_t>(offset + got));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return disk_error("read", path);
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  return got;
}

class FileReader final : public BlobReader {
 public:
  FileReader(Descriptor file, std::uint64_t size, std::string path)
      : file_(std::move(file)), size_(size), path_(std::move(path)) {}

  std::uint64_t size() const override { return size_; }
  Result<std::string> read(std::uint64_t offset, std::size_t bytes_max) override {
    const std::uint64_t left = size_ - std::min(offset, size_);
    std::string out(static_cast<std::size_t>(std::min<std::uint64_t>(bytes_max, left)), '\0');
    TRY_ASSIGN(const std::size_t got, read_at(file_.get(), offset, out, path_));
    if (got < out.size())
      return fail(Code::internal, fmt::format("{} was truncated while it was read", path_));
    return out;
  }

 private:
  Descriptor file_;
  std::uint64_t size_;
  std::string path_;
};

}  // namespace

class FileBlobStore::Writer final : public BlobWriter {
 public:
  Writer(FileBlobStore& store, std::string path, Descriptor file)
      : store_(store), path_(std::move(path)), file_(std::move(file)) {}
  ~Writer() override {
    if (!sealed_) ::unlink(path_.c_str());
  }

  Result<void> write(std::string_view bytes) override {
    TRY(write_all(file_.get(), bytes, path_));
    digest_.add(bytes);
    size_ += bytes.size();
    return {};
  }

  Result<StoredBlob> seal() override {
    if (::fsync(file_.get()) != 0) return disk_error("sync", path_);
    StoredBlob blob{digest_.end(), size_, nullptr};
    blob.hold = store_.holds_->hold(blob.digest);
    TRY(store_.install(path_, blob.digest));
    sealed_ = true;
    return blob;
  }

 private:
  FileBlobStore& store_;
  std::string path_;
  Descriptor file_;
  Sha256 digest_;
  std::uint64_t size_ = 0;
  bool sealed_ = false;
};

Result<std::unique_ptr<FileBlobStore>> FileBlobStore::open_folder(std::string folder) {
  const std::string fresh = folder + "/new";
  TRY(make_folder(folder));
  TRY(make_folder(fresh));
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fresh, error)) ::unlink(entry.path().c_str());
  if (error)
    return fail(Code::unavailable, fmt::format("cannot list {}: {}", fresh, error.message()));
  return std::unique_ptr<FileBlobStore>(new FileBlobStore(std::move(folder)));
}

std::string FileBlobStore::shard_of(const Digest& digest) const {
  return folder_ + '/' + hex(bytes_of(digest).substr(0, 1));
}

std::string FileBlobStore::path_of(const Digest& digest) const {
  return shard_of(digest) + '/' + hex(bytes_of(digest).substr(1));
}

Result<std::unique_ptr<BlobWriter>> FileBlobStore::create() {
  const std::string path = fmt::format("{}/new/{}", folder_, ++last_new_);
  Descriptor file{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
  if (!file) return disk_error("make", path);
  return std::make_unique<Writer>(*this, path, std::move(file));
}

Result<void> FileBlobStore::install(const std::string& from, const Digest& digest) {
  const std::string shard = shard_of(digest);
  TRY(make_folder(shard));
  const std::string to = path_of(digest);
  if (::rename(from.c_str(), to.c_str()) != 0) return disk_error("place", to);
  return sync_folder(shard);
}

bool FileBlobStore::checked(const std::string& name, const std::string& stamp) {
  const std::lock_guard lock(checked_mutex_);
  const auto at = checked_.find(name);
  return at != checked_.end() && at->second == stamp;
}

void FileBlobStore::remember(const std::string& name, std::string stamp) {
  const std::lock_guard lock(checked_mutex_);
  const auto [at, fresh] = checked_.insert_or_assign(name, std::move(stamp));
  if (fresh) checked_order_.push_back(name);
  if (checked_order_.size() <= kCheckedBlobsMax) return;
  checked_.erase(checked_order_.front());
  checked_order_.pop_front();
}

Result<std::unique_ptr<BlobReader>> FileBlobStore::open(const Digest& digest, std::uint64_t size) {
  const std::string path = path_of(digest);
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file && errno == ENOENT) return damaged(digest, "are missing");
  if (!file) return disk_error("open", path);
  struct stat about{};
  if (::fstat(file.get(), &about) != 0) return disk_error("access", path);
  if (static_cast<std::uint64_t>(about.st_size) != size)
    return damaged(digest, fmt::format("are damaged: {} bytes instead of {}", about.st_size, size));
  const std::string stamp = fmt::format("{} {} {}.{}", about.st_ino, about.st_size,
                                        about.st_ctim.tv_sec, about.st_ctim.tv_nsec);
  if (!checked(path, stamp)) {
    Sha256 found;
    std::string piece(kCheckBytes, '\0');
    for (std::uint64_t at = 0; at < size;) {
      TRY_ASSIGN(const std::size_t got, read_at(file.get(), at, piece, path));
      if (got == 0) return damaged(digest, "are damaged: the file is truncated");
      found.add(std::string_view(piece).substr(0, got));
      at += got;
    }
    if (found.end() != digest) return damaged(digest, "are damaged: the digest does not match");
    remember(path, stamp);
  }
  return std::make_unique<FileReader>(std::move(file), size, path);
}

Result<void> FileBlobStore::list(const std::function<void(const BlobEntry&)>& visit) {
  std::error_code error;
  for (const auto& shard : fs::directory_iterator(folder_, error)) {
    const std::string prefix = shard.path().filename().string();
    if (prefix.size() != 2) continue;
    for (const auto& file : fs::directory_iterator(shard.path(), error)) {
      const auto digest = digest_of_hex(prefix + file.path().filename().string());
      struct stat about{};
      if (!digest || ::stat(file.path().c_str(), &about) != 0) continue;
      const std::int64_t written = static_cast<std::int64_t>(about.st_mtim.tv_sec) * 1'000;
      visit({*digest, static_cast<std::uint64_t>(about.st_size), Timestamp{written}});
    }
  }
  if (error)
    return fail(Code::unavailable, fmt::format("cannot list {}: {}", folder_, error.message()));
  return {};
}

Result<bool> FileBlobStore::remove(const Digest& digest) {
  const std::string path = path_of(digest);
  int outcome = 0;
  int error = 0;
  const bool free = holds_->if_free(digest, [&] {
    outcome = ::unlink(path.c_str());
    error = errno;
  });
  if (!free || (outcome != 0 && error == ENOENT)) return false;
  errno = error;
  if (outcome != 0) return disk_error("remove", path);
  return true;
}

}  // namespace agentrt::store
