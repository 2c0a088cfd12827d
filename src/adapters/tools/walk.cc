#include "adapters/tools/walk.h"

#include <algorithm>
#include <filesystem>
#include <ranges>
#include <vector>

#include <fmt/format.h>

#include "adapters/tools/ignore_file.h"
#include "adapters/tools/lines.h"

namespace agentrt::adapters::tools {
namespace {

bool is_repository(const std::filesystem::path& folder) {
  struct stat about{};
  return ::lstat((folder / ".git").c_str(), &about) == 0;
}

// The ignore files in effect at one point of a walk, outermost folder first.
class IgnoreFiles {
 public:
  // The user's global excludes. They apply within repositories, relative to the innermost one.
  void add_global(std::string_view text, const std::string& start) {
    if (text.empty()) return;
    global_.emplace(text);
    for (std::filesystem::path folder = start;; folder = folder.parent_path()) {
      if (is_repository(folder)) return enter_repository(folder);
      if (folder == folder.root_path()) return;
    }
  }
  void enter_repository(std::string folder) { repository_ = std::move(folder); }
  const std::string& repository() const { return repository_; }

  // Adds those of parent folders that belong to the session.
  void add_above(const Grounds& grounds, const std::string& start) {
    const std::filesystem::path path(start);
    std::filesystem::path above;
    for (auto name = path.begin(); name != std::prev(path.end()); ++name) {
      above /= *name;
      if (const auto file = grounds.open_file(above / kIgnoreFileName)) add(above, file->handle);
    }
  }

  // An unreadable ignore file excludes nothing.
  void add(const std::string& folder, const Descriptor& handle) {
    struct stat about{};
    if (::fstat(handle.get(), &about) != 0 || !S_ISREG(about.st_mode)) return;
    auto readable = reopen(handle, O_RDONLY | O_NONBLOCK);
    if (!readable) return;
    FileBytes bytes(*std::move(readable));
    std::string text;
    while (text.size() < kIgnoreFileBytesMax && bytes.read(text).value_or(false)) {
    }
    files_.push_back({folder, IgnoreFile(text)});
  }

  std::size_t size() const { return files_.size(); }
  void shrink(std::size_t size) {
    while (files_.size() > size) files_.pop_back();
  }

  // The innermost file with a matching line decides.
  bool leave_out(const Walked& seen) const {
    const auto kind =
        seen.kind == EntryKind::folder ? IgnoreFile::Kind::folder : IgnoreFile::Kind::other;
    const auto below = [&](const std::string& folder) {
      return std::string_view(seen.real_path).substr(folder == "/" ? 1 : folder.size() + 1);
    };
    for (const auto& [folder, file] : files_ | std::views::reverse)
      if (const auto out = file.leaves_out(below(folder), kind)) return *out;
    return global_ && !repository_.empty() &&
           global_->leaves_out(below(repository_), kind).value_or(false);
  }

 private:
  struct Placed {
    std::string folder;  // absolute, symlinks resolved
    IgnoreFile file;
  };
  std::vector<Placed> files_;
  std::optional<IgnoreFile> global_;
  std::string repository_;  // the innermost one; absolute, symlinks resolved; empty: none
};

class Walk {
 public:
  Walk(const Grounds& grounds, const WalkLimits& limits, const Until& until,
       const std::function<Next(const Walked&)>& visit)
      : grounds_(grounds), limits_(limits), until_(until), visit_(visit) {}

  // False: the walk has ended.
  bool enter(const Descriptor& folder, const std::string& path, const std::string& real_path,
             std::uint64_t depth) {
    if (++folders_ > limits_.folders) return end(WalkEnd::entries);
    const auto found = read_folder(folder, kFolderEntriesMax);
    if (!found) {
      ++report_.unreadable;
      return true;
    }
    const std::size_t outside = ignore_files_.size();
    const std::string repository = ignore_files_.repository();
    if (std::ranges::binary_search(found->entries, ".git", {}, &FolderEntry::name))
      ignore_files_.enter_repository(real_path);
    if (std::ranges::binary_search(found->entries, kIgnoreFileName, {}, &FolderEntry::name))
      heed_ignore_file(folder, real_path);
    for (const FolderEntry& entry : found->entries) {
      if (entry.name == ".git" || entry.name.starts_with(kStagedPrefix)) continue;
      if (until_.over()) return end(WalkEnd::time);
      if (++entries_ > limits_.entries) return end(WalkEnd::entries);
      if (!see(folder, entry, path, real_path, depth)) return false;
    }
    ignore_files_.shrink(outside);
    ignore_files_.enter_repository(repository);
    return found->whole || end(WalkEnd::entries);
  }

  void heed_those_above(const std::string& start) {
    if (limits_.ignored == Ignored::seen) return;
    ignore_files_.add_global(limits_.excludes, start);
    ignore_files_.add_above(grounds_, start);
  }

  WalkReport report() const { return report_; }

 private:
  void heed_ignore_file(const Descriptor& folder, const std::string& real_path) {
    const std::string name(kIgnoreFileName);
    if (limits_.ignored == Ignored::seen || grounds_.refusal(real_path + "/" + name, Use::read))
      return;
    if (const auto file = open_beneath(folder.get(), name, Links::refuse))
      ignore_files_.add(real_path, *file);
  }

  bool end(WalkEnd why) {
    report_.end = why;
    return false;
  }

  bool see(const Descriptor& folder, const FolderEntry& entry, const std::string& path,
           const std::string& real_path, std::uint64_t depth) {
    Walked seen{.path = path.empty() ? entry.name : path + "/" + entry.name,
                .kind = entry.kind,
                .folder = &folder,
                .name = entry.name,
                .real_path = real_path == "/" ? "/" + entry.name : real_path + "/" + entry.name};
    if (grounds_.refusal(seen.real_path, Use::read)) {
      ++report_.left_out;
      return true;
    }
    if (ignore_files_.leave_out(seen)) {
      ++report_.ignored;
      return true;
    }
    if (visit_(seen) == Next::stop) return end(WalkEnd::stopped);
    if (entry.kind != EntryKind::folder || depth >= limits_.depth) return true;
    const auto below = open_beneath(folder.get(), entry.name, Links::refuse, O_PATH | O_DIRECTORY);
    if (!below) return true;  // removed or replaced meanwhile
    return enter(*below, seen.path, seen.real_path, depth + 1);
  }

  const Grounds& grounds_;
  const WalkLimits& limits_;
  const Until& until_;
  const std::function<Next(const Walked&)>& visit_;
  WalkReport report_;
  IgnoreFiles ignore_files_;
  std::size_t entries_ = 0, folders_ = 0;
};

}  // namespace

WalkReport walk_folder(const Grounds& grounds, const Opened& start, const WalkLimits& limits,
                       const Until& until, const std::function<Next(const Walked&)>& visit) {
  Walk walk(grounds, limits, until, visit);
  walk.heed_those_above(start.path);
  walk.enter(start.handle, "", start.path, 1);
  return walk.report();
}

void note_walk(const WalkReport& report, std::string_view narrower, BoundedText& out) {
  if (report.end == WalkEnd::stopped)
    out.note(fmt::format("There are more results: {}.", narrower));
  if (report.end == WalkEnd::time)
    out.note(
        fmt::format("The time limit was reached before everything was searched: {}.", narrower));
  if (report.end == WalkEnd::entries)
    out.note(fmt::format("There are too many files to search all of them: {}.", narrower));
  if (report.left_out > 0)
    out.note(fmt::format("Omitted because rules or the sandbox hide them: {}.", report.left_out));
  if (report.ignored > 0)
    out.note(fmt::format("Omitted because of .gitignore: {}; set ignored to true to include them.",
                         report.ignored));
  if (report.unreadable > 0)
    out.note(
        fmt::format("Folders that cannot be read (permission denied): {}.", report.unreadable));
}

}  // namespace agentrt::adapters::tools
