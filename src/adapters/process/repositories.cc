#include "adapters/process/repositories.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

#include "adapters/process/sandbox.h"
#include "base/descriptor.h"
#include "base/real_path.h"

namespace agentrt::adapters {
namespace {

constexpr std::size_t kKeptFoldersMax = 20'000;  // then the cache is cleared
constexpr std::int64_t kSettledNs = 50'000'000;  // a newer change may share its timestamp
constexpr std::size_t kPointerBytesMax = 8'192;  // of a .git or commondir file

// Large folders that rarely contain a repository.
constexpr std::string_view kSearchedLast[] = {"node_modules", ".venv",       "venv", "target",
                                              "build",        "dist",        ".tox", ".cache",
                                              "vendor",       "__pycache__", "out",  "third_party"};

struct Listing {
  std::int64_t changed_ns = 0;
  ino_t inode = 0;
  bool settled = false;
  bool empty = true;
  bool is_git_folder = false;  // contains HEAD, objects and refs
  bool has_git_folder = false, has_git_file = false;
  std::vector<std::string> folders;
};

std::int64_t ns_of(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return ns_of(now);
}

bool is_within(std::string_view path, std::string_view folder) {
  return folder == "/" ||
         (path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/'));
}

bool is_folder(const DIR* folder, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat found{};
  return ::fstatat(::dirfd(const_cast<DIR*>(folder)), entry.d_name, &found, AT_SYMLINK_NOFOLLOW) ==
             0 &&
         S_ISDIR(found.st_mode);
}

Listing read_folder(const std::string& path, const struct stat& found) {
  Listing listing{.changed_ns = ns_of(found.st_ctim), .inode = found.st_ino};
  listing.settled = now_ns() - listing.changed_ns > kSettledNs;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
  bool head = false, objects = false, refs = false;
  while (folder) {
    const dirent* entry = ::readdir(folder.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    listing.empty = false;
    const bool is_one = is_folder(folder.get(), *entry);
    head = head || (name == "HEAD" && !is_one);
    objects = objects || (name == "objects" && is_one);
    refs = refs || (name == "refs" && is_one);
    if (name == ".git")
      (is_one ? listing.has_git_folder : listing.has_git_file) = true;
    else if (is_one)
      listing.folders.emplace_back(name);
  }
  listing.is_git_folder = head && objects && refs;
  return listing;
}

// Cached folder listings, shared by all searches of this process.
class Memory {
 public:
  // Empty: not a folder.
  std::optional<Listing> look(const std::string& path) {
    struct stat found{};
    if (::lstat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) return std::nullopt;
    const auto known = folders_.find(path);
    if (known != folders_.end() && known->second.settled && known->second.inode == found.st_ino &&
        known->second.changed_ns == ns_of(found.st_ctim))
      return known->second;
    if (folders_.size() >= kKeptFoldersMax) folders_.clear();
    return folders_[path] = read_folder(path, found);
  }

  std::mutex mutex;
  std::set<std::string> made_inside;

 private:
  std::unordered_map<std::string, Listing> folders_;
};

Memory& memory() {
  static Memory kept;
  return kept;
}

std::string read_line(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  std::string text(kPointerBytesMax, '\0');
  const ssize_t size = file ? ::read(file.get(), text.data(), text.size()) : 0;
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

class Search {
 public:
  Search(const std::vector<std::string>& roots, const std::vector<std::string>& skipped)
      : roots_(roots), skipped_(skipped.begin(), skipped.end()) {}

  Repositories run() {
    for (const std::string& root : roots_) next_.push_back(root);
    while (!next_.empty() || !last_.empty()) {
      std::deque<std::string>& from = next_.empty() ? last_ : next_;
      const std::string path = std::move(from.front());
      from.pop_front();
      if (folders_searched_ >= kSearchFoldersMax || found_.size() >= kRepositoriesMax) break;
      search(path);
    }
    Repositories out;
    for (const std::string& folder : found_)  // sorted: a folder precedes the folders inside it
      out.folders.push_back({folder, memory().made_inside.contains(folder)});
    out.files = std::move(files_);
    return out;
  }

 private:
  void search(const std::string& path) {
    if (skipped_.contains(path)) return;
    ++folders_searched_;
    const auto listing = memory().look(path);
    if (!listing) return;
    if (listing->is_git_folder) return add(path);
    if (listing->has_git_folder) add_unless_empty(path + "/.git");
    if (listing->has_git_file) follow(path + "/.git", path);
    for (const std::string& name : listing->folders) {
      const bool last = std::ranges::find(kSearchedLast, name) != std::end(kSearchedLast);
      (last ? last_ : next_).push_back((path == "/" ? "" : path) + "/" + name);
    }
  }

  bool lies_in_a_root(const std::string& path) const {
    return std::ranges::any_of(roots_, [&](const auto& root) { return is_within(path, root); });
  }

  // An empty folder may be the placeholder for a missing one while another command runs.
  void add_unless_empty(const std::string& folder) {
    if (const auto listing = memory().look(folder); listing && !listing->empty) add(folder);
  }

  void add(const std::string& folder) {
    if (found_.size() >= kRepositoriesMax || !found_.insert(folder).second) return;
    if (const std::string common = read_line(folder + "/commondir"); !common.empty())
      add_elsewhere(folder, common);
    add_modules(folder + "/modules");
  }

  // Submodules may lie at any depth, because their names may contain slashes.
  void add_modules(const std::string& path) {
    if (++folders_searched_ > kSearchFoldersMax) return;
    const auto listing = memory().look(path);
    if (!listing) return;
    if (listing->is_git_folder) return add(path);
    for (const std::string& name : listing->folders) add_modules(path + "/" + name);
  }

  void follow(const std::string& file, const std::string& folder) {
    files_.push_back(file);
    constexpr std::string_view kHead = "gitdir: ";
    const std::string line = read_line(file);
    if (line.starts_with(kHead)) add_elsewhere(folder, line.substr(kHead.size()));
  }

  // A linked worktree's git folder lies inside the main one's. Guarding the main one covers both.
  void add_elsewhere(const std::string& from, const std::string& to) {
    const std::string target = real_path(to.starts_with('/') ? to : from + "/" + to);
    if (!lies_in_a_root(target)) return;
    const std::string common = read_line(target + "/commondir");
    if (common.empty()) return add_if_one(target);
    const std::string whole = real_path(common.starts_with('/') ? common : target + "/" + common);
    if (!is_within(target, whole)) add(target);
    if (whole != from && lies_in_a_root(whole)) add_if_one(whole);
  }

  // Adds only real git folders. A file may point anywhere; any other folder stays writable.
  void add_if_one(const std::string& folder) {
    if (const auto listing = memory().look(folder); listing && listing->is_git_folder) add(folder);
  }

  const std::vector<std::string>& roots_;
  std::set<std::string> skipped_;
  std::deque<std::string> next_, last_;
  std::set<std::string> found_;
  std::vector<std::string> files_;
  std::size_t folders_searched_ = 0;
};

}  // namespace

Repositories find_repositories(const std::vector<std::string>& roots,
                               const std::vector<std::string>& skipped) {
  const std::scoped_lock lock(memory().mutex);
  return Search(roots, skipped).run();
}

void mark_made_inside(const std::string& folder) {
  const std::scoped_lock lock(memory().mutex);
  if (memory().made_inside.size() >= kKeptFoldersMax) memory().made_inside.clear();
  memory().made_inside.insert(folder);
}

}  // namespace agentrt::adapters
