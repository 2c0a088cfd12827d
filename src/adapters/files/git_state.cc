#include "adapters/files/git_state.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "adapters/files/acting_as.h"
#include "adapters/files/open_file.h"
#include "base/digest.h"

namespace agentrt::adapters {
namespace {

constexpr std::size_t kSmallFileBytesMax = 8'192;  // HEAD, .git, commondir
constexpr std::size_t kConfigBytesMax = 64 << 10;
constexpr std::size_t kBranchBytesMax = 200;
constexpr std::size_t kShortCommit = 10;

// Empty: it does not exist or is not a regular file.
std::string read_whole(const std::string& path, std::size_t bytes_max) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat about{};
  if (file.get() < 0 || ::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode)) return {};
  return read_at_most(file.get(), bytes_max);
}

std::string read_line(const std::string& path) {
  std::string text = read_whole(path, kSmallFileBytesMax);
  text.resize(std::min(text.find('\n'), text.size()));
  return text;
}

bool exists(const std::string& path) {
  struct stat about{};
  return ::lstat(path.c_str(), &about) == 0;
}

std::string resolved(const std::string& path, const std::string& from) {
  return path.starts_with('/') ? path : from + "/" + path;
}

// The git folder of a working tree; a linked one has a file that names it.
std::string git_folder(const std::string& root) {
  constexpr std::string_view kPointer = "gitdir: ";
  const std::string line = read_line(root + "/.git");
  if (!line.starts_with(kPointer)) return root + "/.git";
  return resolved(line.substr(kPointer.size()), root);
}

// The name reaches the model, so it must be one that git accepts: no white space, no controls.
bool is_branch_name(std::string_view name) {
  return !name.empty() && name.size() <= kBranchBytesMax &&
         std::ranges::none_of(name, [](unsigned char c) { return c <= ' ' || c == 0x7f; }) &&
         name.find_first_of("~^:?*[\\") == std::string_view::npos;
}

bool is_commit(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isxdigit(c) != 0; });
}

std::string operation_in(const std::string& folder) {
  struct Marker {
    const char* file;
    const char* operation;
  };
  constexpr Marker kMarkers[] = {{"MERGE_HEAD", "merge"},    {"rebase-merge", "rebase"},
                                 {"rebase-apply", "rebase"}, {"CHERRY_PICK_HEAD", "cherry-pick"},
                                 {"REVERT_HEAD", "revert"},  {"BISECT_LOG", "bisect"}};
  for (const Marker& marker : kMarkers)
    if (exists(fmt::format("{}/{}", folder, marker.file))) return marker.operation;
  return {};
}

// Reads big-endian numbers and texts from the index. After its end everything is 0 or empty.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

  std::string_view take(std::size_t count) {
    const std::string_view out = bytes_.substr(at(), count);
    broken_ = broken_ || out.size() < count;
    at_ += out.size();
    return out;
  }
  std::uint32_t number(std::size_t width = 4) {
    std::uint32_t out = 0;
    for (const unsigned char c : take(width)) out = out << 8 | c;
    return out;
  }
  std::string_view until_zero() {
    const std::size_t end = bytes_.find('\0', at_);
    broken_ = broken_ || end == std::string_view::npos;
    const std::string_view out = bytes_.substr(at(), broken_ ? 0 : end - at_);
    at_ += out.size() + 1;
    return out;
  }
  std::size_t at() const { return std::min(at_, bytes_.size()); }
  std::size_t left() const { return bytes_.size() - at(); }
  bool broken() const { return broken_; }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool broken_ = false;
};

struct Entry {
  std::uint32_t seconds = 0, nanoseconds = 0, mode = 0, size = 0;
  std::string_view content;  // its SHA-1
  std::uint32_t flags = 0, more_flags = 0;
  std::string path;

  bool conflicts() const { return (flags & 0x3000) != 0; }
  bool assumed_unchanged() const { return (flags & 0x8000) != 0 || (more_flags & 0x4000) != 0; }
  bool is_only_intended() const { return (more_flags & 0x2000) != 0; }
  bool is_submodule() const { return (mode & 0170000) == 0160000; }
};

class Index {
 public:
  Index(std::string_view bytes, int root) : bytes_(bytes), root_(root) {}

  // nullopt: it cannot be determined, or not in time.
  std::optional<bool> differs() {
    if (bytes_.take(4) != "DIRC") return std::nullopt;
    version_ = bytes_.number();
    const std::uint32_t count = bytes_.number();
    if (version_ < 2 || version_ > 4) return std::nullopt;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kGitTimeMaxMs);
    for (std::uint32_t i = 0; i < count; ++i) {
      read_entry();
      if (bytes_.broken()) return std::nullopt;
      const auto changed = entry_differs();
      if (changed != false) return changed;
      if (i % 64 == 0 && std::chrono::steady_clock::now() > end) return std::nullopt;
    }
    return has_staged();
  }

 private:
  void read_entry() {
    const std::size_t begin = bytes_.at();
    (void)bytes_.take(8);  // ctime
    entry_.seconds = bytes_.number();
    entry_.nanoseconds = bytes_.number();
    (void)bytes_.take(8);  // device and inode
    entry_.mode = bytes_.number();
    (void)bytes_.take(8);  // owner
    entry_.size = bytes_.number();
    entry_.content = bytes_.take(20);
    entry_.flags = bytes_.number(2);
    entry_.more_flags = version_ > 2 && (entry_.flags & 0x4000) != 0 ? bytes_.number(2) : 0;
    if (version_ < 4) {
      entry_.path = bytes_.until_zero();
      const std::size_t size = bytes_.at() - begin;
      (void)bytes_.take((8 - size % 8) % 8);
      return;
    }
    // Version 4 stores how many bytes of the previous path to drop, and what follows them.
    std::size_t drop = 0;
    for (std::uint32_t byte = bytes_.number(1);; byte = bytes_.number(1)) {
      drop = drop << 7 | (byte & 0x7f);
      if ((byte & 0x80) == 0 || bytes_.broken()) break;
      ++drop;
    }
    entry_.path.resize(entry_.path.size() - std::min(drop, entry_.path.size()));
    entry_.path += bytes_.until_zero();
  }

  std::optional<bool> entry_differs() {
    if (entry_.conflicts() || entry_.is_only_intended()) return true;
    if (entry_.assumed_unchanged() || entry_.is_submodule()) return false;
    if (entry_.path.starts_with('/') || ("/" + entry_.path + "/").contains("/../"))
      return std::nullopt;
    struct stat about{};
    if (::fstatat(root_, entry_.path.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0)
      return errno == ENOENT || errno == ENOTDIR ? std::optional(true) : std::nullopt;
    if ((about.st_mode & S_IFMT) != (entry_.mode & S_IFMT)) return true;
    const bool runs = (about.st_mode & S_IXUSR) != 0;
    if (S_ISREG(about.st_mode) && runs != ((entry_.mode & S_IXUSR) != 0)) return true;
    const bool same_size = static_cast<std::uint32_t>(about.st_size) == entry_.size;
    const bool same_time =
        static_cast<std::uint32_t>(about.st_mtim.tv_sec) == entry_.seconds &&
        (entry_.nanoseconds == 0 ||
         static_cast<std::uint32_t>(about.st_mtim.tv_nsec) == entry_.nanoseconds);
    if (same_size && same_time) return false;
    // Size 0 in the index may mean that git wants the content to be compared.
    if (!same_size && entry_.size != 0) return true;
    return content_differs(about);
  }

  // Compares without the conversion of line ends and without filters.
  std::optional<bool> content_differs(const struct stat& about) {
    if (!S_ISREG(about.st_mode)) return true;
    const auto size = static_cast<std::size_t>(about.st_size);
    if (size > kGitComparedBytesMax || ++compared_ > kGitFilesComparedMax) return std::nullopt;
    const Descriptor file(
        ::openat(root_, entry_.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (file.get() < 0) return std::nullopt;
    const std::string text = read_at_most(file.get(), kGitComparedBytesMax + 1);
    const auto digest = sha1(fmt::format("blob {}", text.size()) + '\0' + text);
    return std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()) !=
           entry_.content;
  }

  // The extension TREE has the digest of the tree that was committed or checked out last. Staging a
  // change invalidates it.
  std::optional<bool> has_staged() {
    constexpr std::size_t kChecksum = 20;
    while (bytes_.left() > kChecksum + 8) {
      const std::string_view name = bytes_.take(4);
      const std::string_view data = bytes_.take(bytes_.number());
      if (bytes_.broken() || name == "link" || name == "sdir") return std::nullopt;
      if (name == "TREE") return data.size() > 2 && data[0] == '\0' && data[1] == '-';
    }
    return std::nullopt;
  }

  Bytes bytes_;
  const int root_;
  std::uint32_t version_ = 0;
  Entry entry_;
  std::size_t compared_ = 0;
};

std::optional<bool> differs(const std::string& root, const std::string& folder) {
  const std::string index = read_whole(folder + "/index", kGitIndexBytesMax + 1);
  if (index.empty() || index.size() > kGitIndexBytesMax) return std::nullopt;
  const std::string common = read_line(folder + "/commondir");
  const std::string config =
      read_whole((common.empty() ? folder : resolved(common, folder)) + "/config", kConfigBytesMax);
  if (config.contains("sha256")) return std::nullopt;  // other digests; rare
  const Descriptor tree(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (tree.get() < 0) return std::nullopt;
  return Index(index, tree.get()).differs();
}

}  // namespace

std::optional<ports::GitState> read_git_state(const std::string& root) {
  constexpr std::string_view kBranch = "ref: refs/heads/";
  struct stat owner{};
  if (::stat(root.c_str(), &owner) != 0) return std::nullopt;
  const ActingAs acting({owner.st_uid, owner.st_gid});
  if (!acting.in_force()) return std::nullopt;
  const std::string folder = git_folder(root);
  const std::string head = read_line(folder + "/HEAD");
  ports::GitState out;
  if (head.starts_with(kBranch) && is_branch_name(head.substr(kBranch.size())))
    out.branch = head.substr(kBranch.size());
  else if (is_commit(head))
    out.commit = head.substr(0, kShortCommit);
  else
    return std::nullopt;
  out.operation = operation_in(folder);
  out.changed = differs(root, folder);
  return out;
}

}  // namespace agentrt::adapters
