#include "adapters/process/cgroup.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>

#include "launcher/cgroup.h"

namespace agentrt::adapters {
namespace {

namespace fs = std::filesystem;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool has_word(std::string_view list, std::string_view word, char between) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(between), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

struct Mount {
  std::string root, at, type, options;
};

// One line of mountinfo: ID PARENT DEVICE ROOT AT FLAGS ... - TYPE SOURCE OPTIONS
std::optional<Mount> mount_of(const std::string& line) {
  std::istringstream words(line);
  Mount mount;
  std::string skipped, source;
  words >> skipped >> skipped >> skipped >> mount.root >> mount.at;
  while (words >> skipped && skipped != "-") {
  }
  if (!(words >> mount.type >> source >> mount.options)) return std::nullopt;
  return mount;
}

// The folder of a cgroup, seen through a mount that may show only part of the hierarchy.
std::string folder_of(const Mount& mount, std::string path) {
  if (mount.root != "/" && path.starts_with(mount.root)) path = path.substr(mount.root.size());
  if (path == "/") path.clear();
  return mount.at + path;
}

bool may_make_in(const std::string& folder) {
  return ::access(folder.c_str(), W_OK | X_OK) == 0 &&
         ::access((folder + "/cgroup.procs").c_str(), W_OK) == 0;
}

bool hands_on(const std::string& folder) {
  std::string list = text_of(folder + "/cgroup.subtree_control");
  while (list.ends_with('\n')) list.pop_back();
  return has_word(list, "memory", ' ') || has_word(list, "pids", ' ');
}

void remove_leftovers(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const std::string_view prefix = launcher::kGroupPrefix;
    if (!name.starts_with(prefix)) continue;
    pid_t owner = 0;
    std::from_chars(name.data() + prefix.size(), name.data() + name.size(), owner);
    if (owner > 0 && ::kill(owner, 0) != 0) ::rmdir(entry.path().c_str());
  }
}

std::vector<std::string> find_writable() {
  const CgroupPlaces places =
      cgroup_places(text_of("/proc/self/cgroup"), text_of("/proc/self/mountinfo"));
  std::vector<std::string> found;
  for (const std::string& folder : places.legacy)
    if (may_make_in(folder)) found.push_back(folder);
  // A v2 cgroup that delegates controllers cannot hold processes, so search our ancestors.
  for (fs::path at = places.unified; !at.empty(); at = at.parent_path()) {
    if (hands_on(at.string()) && may_make_in(at.string())) {
      found.push_back(at.string());
      break;
    }
    if (at == places.unified_top) break;
  }
  found = each_once(found);
  for (const std::string& folder : found) remove_leftovers(folder);
  return found;
}

}  // namespace

CgroupPlaces cgroup_places(std::string_view cgroups, std::string_view mounts) {
  std::vector<Mount> trees;
  std::istringstream mount_lines{std::string(mounts)};
  for (std::string line; std::getline(mount_lines, line);)
    if (auto mount = mount_of(line); mount && mount->type.starts_with("cgroup"))
      trees.push_back(std::move(*mount));
  CgroupPlaces places;
  std::istringstream lines{std::string(cgroups)};
  for (std::string line; std::getline(lines, line);) {  // ID:CONTROLLERS:PATH
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    for (const Mount& tree : trees) {
      if (controllers.empty() && tree.type == "cgroup2" && places.unified.empty()) {
        places.unified = folder_of(tree, path);
        places.unified_top = tree.at;
      }
      for (const char* wanted : {"pids", "memory"})
        if (tree.type == "cgroup" && has_word(controllers, wanted, ',') &&
            has_word(tree.options, wanted, ','))
          places.legacy.push_back(folder_of(tree, path));
    }
  }
  return places;
}

std::vector<std::string> each_once(const std::vector<std::string>& folders) {
  std::set<std::pair<dev_t, ino_t>> seen;
  std::vector<std::string> out;
  for (const std::string& folder : folders)
    if (struct stat found{};
        ::stat(folder.c_str(), &found) == 0 && seen.emplace(found.st_dev, found.st_ino).second)
      out.push_back(folder);
  return out;
}

const std::vector<std::string>& writable_cgroups() {
  static const std::vector<std::string> kFound = find_writable();
  return kFound;
}

}  // namespace agentrt::adapters
