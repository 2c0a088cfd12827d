#include "adapters/process/left_behind.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "policy/git_folders.h"

namespace agentrt::adapters {
namespace {

constexpr std::size_t kFilesOfFolderMax = 256;
constexpr const char* kRebasePlan = "/rebase-merge/git-rebase-todo";

std::string stamp_of(const std::string& path) {
  struct stat found{};
  if (::lstat(path.c_str(), &found) != 0) return "";
  return fmt::format("{}.{}.{}.{}.{}", found.st_ino, found.st_size, found.st_mode,
                     found.st_ctim.tv_sec, found.st_ctim.tv_nsec);
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
  while (entries && out.size() < kFilesOfFolderMax) {
    const dirent* entry = ::readdir(entries.get());
    if (entry == nullptr) break;
    if (entry->d_name[0] != '.' && entry->d_type != DT_DIR)
      out.push_back(folder + "/" + entry->d_name);
  }
  return out;
}

std::string text_of(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  std::string text(kConfigBytesMax, '\0');
  const ssize_t size = file ? ::read(file.get(), text.data(), text.size()) : 0;
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

bool is_executable(const std::string& path) {
  struct stat found{};
  return ::stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode) &&
         (found.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0;
}

// The files of a repository that can make git run a program.
std::vector<std::string> obeyed_in(const std::string& repository) {
  std::vector<std::string> out{repository + "/config", repository + "/config.worktree"};
  for (std::string& hook : files_in(repository + "/hooks"))
    if (!hook.ends_with(".sample")) out.push_back(std::move(hook));
  return out;
}

// The files of a workspace that other programs execute or obey.
std::vector<std::string> obeyed_below(const std::string& root) {
  std::vector<std::string> out;
  for (const std::string_view name : policy::obeyed_in_workspace()) {
    std::string path = root + "/" + std::string(name);
    if (!path.ends_with('/')) {
      out.push_back(std::move(path));
      continue;
    }
    path.pop_back();
    for (std::string& file : files_in(path)) out.push_back(std::move(file));
  }
  return out;
}

// Serialized as repeated KIND NUL TEXT NUL; a `stamp` is followed by its path.
struct State {
  std::vector<std::string> roots, skipped;
  std::set<std::string> repositories;
  std::map<std::string, std::string> stamps;  // of existing files

  void note(const std::string& path) {
    if (std::string stamp = stamp_of(path); !stamp.empty()) stamps[path] = std::move(stamp);
  }
  bool has_changed(const std::string& path) const {
    const auto before = stamps.find(path);
    const std::string now = stamp_of(path);
    return !now.empty() && (before == stamps.end() || before->second != now);
  }
};

std::string encode(const State& state) {
  std::string out;
  const auto put = [&](std::string_view kind, const std::string& text) {
    out.append(kind).append(1, '\0').append(text).append(1, '\0');
  };
  for (const std::string& root : state.roots) put("root", root);
  for (const std::string& path : state.skipped) put("skip", path);
  for (const std::string& folder : state.repositories) put("repository", folder);
  for (const auto& [path, stamp] : state.stamps) put(stamp, path);
  return out;
}

State decode(std::string_view bytes) {
  State state;
  const auto take = [&] {
    const std::size_t end = std::min(bytes.find('\0'), bytes.size());
    std::string part(bytes.substr(0, end));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    return part;
  };
  while (!bytes.empty()) {
    const std::string kind = take();
    std::string text = take();
    if (kind == "root")
      state.roots.push_back(std::move(text));
    else if (kind == "skip")
      state.skipped.push_back(std::move(text));
    else if (kind == "repository")
      state.repositories.insert(std::move(text));
    else
      state.stamps[std::move(text)] = kind;
  }
  return state;
}

class Comparison {
 public:
  explicit Comparison(const State& before) : before_(before) {}

  std::vector<schema::SandboxViolation> run() {
    for (const Repository& found : find_repositories(before_.roots, before_.skipped).folders) {
      const bool is_new = !before_.repositories.contains(found.folder);
      if (is_new) mark_made_inside(found.folder);
      if (is_new || found.made_inside)
        look_at(found.folder);
      else if (const std::string plan = found.folder + kRebasePlan; before_.has_changed(plan))
        if (policy::plans_a_command(text_of(plan)))
          report(fmt::format(
              "{} contains exec lines, which run commands when the rebase is continued", plan));
    }
    for (const std::string& root : before_.roots)
      for (const std::string& file : obeyed_below(root))
        if (before_.has_changed(file))
          report(
              fmt::format("{} is new or changed, and controls programs outside the sandbox", file));
    return std::move(findings_);
  }

 private:
  void look_at(const std::string& repository) {
    for (const std::string& file : obeyed_in(repository)) {
      if (!before_.has_changed(file)) continue;
      if (!file.ends_with("/config") && !file.ends_with("/config.worktree")) {
        if (is_executable(file))
          report(fmt::format("{} is a new or changed hook that git runs", file));
        continue;
      }
      for (const std::string& key : policy::programs_named(text_of(file)))
        report(fmt::format("{} sets a program that git runs: {}", file, key));
    }
  }

  void report(std::string what) {
    if (findings_.size() >= kFindingsMax) return;
    schema::SandboxViolation found;
    found.kind = schema::ViolationKind::filesystem;
    found.attempted = std::move(what);
    found.layer = "inspection";
    found.advisory = true;
    findings_.push_back(std::move(found));
  }

  const State& before_;
  std::vector<schema::SandboxViolation> findings_;
};

}  // namespace

std::string state_of_workspace(const schema::SandboxProfile& profile,
                               const Repositories& repositories) {
  if (profile.mode != schema::SandboxMode::workspace_write) return "";
  State state{.roots = profile.roots, .skipped = profile.hidden_paths};
  for (const Repository& found : repositories.folders) {
    state.repositories.insert(found.folder);
    state.note(found.folder + kRebasePlan);
    if (found.made_inside)
      for (const std::string& file : obeyed_in(found.folder)) state.note(file);
  }
  for (const std::string& root : profile.roots)
    for (const std::string& file : obeyed_below(root)) state.note(file);
  return encode(state);
}

std::vector<schema::SandboxViolation> left_behind(std::string_view before) {
  if (before.empty()) return {};
  const State state = decode(before);
  return Comparison(state).run();
}

}  // namespace agentrt::adapters
