#include "store/sqlite/witness.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <system_error>

#include <fmt/format.h>

#include "store/sqlite/file_system.h"

namespace agentrt::store {
namespace {

constexpr std::size_t kFileBytesMax = 256;
constexpr std::string_view kHeadName = "agentrt head 1 ";
constexpr std::size_t kPositionDigits = 20;
constexpr std::size_t kHashDigits = 64;

std::unexpected<Error> cannot_write(const std::string& path) {
  const int error = errno;
  return fail(
      error == ENOSPC || error == EDQUOT ? Code::storage_full : Code::unavailable,
      fmt::format("{} cannot be written: {}", path, std::generic_category().message(error)));
}

// Inode number and birth time in nanoseconds (0 if the file system has none). The device number is
// omitted because it may change with every boot.
std::optional<std::string> identity_of(const std::string& path) {
  struct statx about{};
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_INO | STATX_BTIME, &about) != 0) return std::nullopt;
  const bool born = (about.stx_mask & STATX_BTIME) != 0;
  return fmt::format("{} {}.{:09}", about.stx_ino, born ? about.stx_btime.tv_sec : 0,
                     born ? about.stx_btime.tv_nsec : 0);
}

std::optional<std::string> text_of(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return std::nullopt;
  std::string text(kFileBytesMax, '\0');
  const ssize_t size = ::read(file, text.data(), text.size());
  ::close(file);
  if (size < 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::string anchor_text(const std::string& identity) {
  return fmt::format("agentrt anchor 1 {}\n", identity);
}

// Has a fixed length, less than a disk sector, because it is overwritten in place.
std::string head_text(const Witness::Head& head) {
  return fmt::format("{}{:020} {}\n", kHeadName, head.position, hex(bytes_of(head.hash)));
}

// Replaces the file atomically.
Result<void> write_synced(const std::string& path, const std::string& text) {
  const std::string fresh = path + ".new";
  const int file = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                          S_IRUSR | S_IWUSR);
  if (file < 0) return cannot_write(fresh);
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const bool synced = written && ::fsync(file) == 0;
  if (!synced) {
    auto error = cannot_write(fresh);
    ::close(file);
    ::unlink(fresh.c_str());
    return error;
  }
  ::close(file);
  if (::rename(fresh.c_str(), path.c_str()) != 0) return cannot_write(path);
  return {};
}

}  // namespace

Witness::~Witness() {
  if (head_file_ < 0) return;
  (void)::fdatasync(head_file_);
  ::close(head_file_);
}

std::optional<std::string> Witness::anchor() const {
  const auto database = identity_of(database_);
  const auto text = text_of(anchor_path());
  if (!database || !text || *text != anchor_text(*database)) return std::nullopt;
  struct stat about{};
  if (::lstat(anchor_path().c_str(), &about) != 0) return std::nullopt;
  return fmt::format("{} {}.{:09}", about.st_ino, about.st_ctim.tv_sec, about.st_ctim.tv_nsec);
}

std::optional<Witness::Head> Witness::head() const {
  const auto text = text_of(head_path());
  if (!text || text->size() != head_text({}).size() || !text->starts_with(kHeadName))
    return std::nullopt;
  Head head;
  const char* digits = text->data() + kHeadName.size();
  const char* end = digits + kPositionDigits;
  const auto read = std::from_chars(digits, end, head.position);
  const auto hash = digest_of_hex(std::string_view(end + 1, kHashDigits));
  if (read.ec != std::errc{} || read.ptr != end || !hash) return std::nullopt;
  head.hash = *hash;
  return head;
}

Result<std::string> Witness::renew(const Head& head) {
  const auto database = identity_of(database_);
  if (!database) return cannot_write(anchor_path());
  TRY(write_synced(head_path(), head_text(head)));
  TRY(write_synced(anchor_path(), anchor_text(*database)));
  TRY(sync_folder_of(database_));
  const auto made = anchor();
  if (!made) return cannot_write(anchor_path());
  return *made;
}

Result<void> Witness::start() {
  head_file_ = ::open(head_path().c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (head_file_ < 0) return cannot_write(head_path());
  return {};
}

void Witness::note(const Head& head) {
  if (head_file_ < 0 || head == noted_) return;
  noted_ = head;
  const std::string text = head_text(head);
  (void)!::pwrite(head_file_, text.data(), text.size(), 0);
}

}  // namespace agentrt::store
