#include "adapters/tools/walk.h"

#include <fmt/format.h>

namespace agentrt::adapters::tools {
namespace {

class Walk {
 public:
  Walk(const Grounds& grounds, const WalkLimits& limits, const Until& until,
       const std::function<Next(const Walked&)>& visit)
      : grounds_(grounds), limits_(limits), until_(until), visit_(visit) {}

  // False: the walk is over.
  bool enter(const Descriptor& folder, const std::string& path, const std::string& real_path,
             std::uint64_t depth) {
    if (++folders_ > limits_.folders) return end(WalkEnd::entries);
    const auto found = read_folder(folder, kFolderEntriesMax);
    if (!found) {
      ++report_.unreadable;
      return true;
    }
    for (const FolderEntry& entry : found->entries) {
      if (entry.name == ".git" || entry.name.starts_with(kStagedPrefix)) continue;
      if (until_.over()) return end(WalkEnd::time);
      if (++entries_ > limits_.entries) return end(WalkEnd::entries);
      if (!see(folder, entry, path, real_path, depth)) return false;
    }
    return found->whole || end(WalkEnd::entries);
  }

  WalkReport report() const { return report_; }

 private:
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
    if (visit_(seen) == Next::stop) return end(WalkEnd::stopped);
    if (entry.kind != EntryKind::folder || depth >= limits_.depth) return true;
    const auto below = open_beneath(folder.get(), entry.name, Links::refuse, O_PATH | O_DIRECTORY);
    if (!below) return true;  // it was removed or replaced meanwhile
    return enter(*below, seen.path, seen.real_path, depth + 1);
  }

  const Grounds& grounds_;
  const WalkLimits& limits_;
  const Until& until_;
  const std::function<Next(const Walked&)>& visit_;
  WalkReport report_;
  std::size_t entries_ = 0, folders_ = 0;
};

}  // namespace

WalkReport walk_folder(const Grounds& grounds, const Opened& start, const WalkLimits& limits,
                       const Until& until, const std::function<Next(const Walked&)>& visit) {
  Walk walk(grounds, limits, until, visit);
  walk.enter(start.handle, "", start.path, 1);
  return walk.report();
}

void note_walk(const WalkReport& report, std::string_view narrower, BoundedText& out) {
  if (report.end == WalkEnd::stopped) out.note(fmt::format("There is more: {}.", narrower));
  if (report.end == WalkEnd::time)
    out.note(fmt::format("Not everything was looked at in time: {}.", narrower));
  if (report.end == WalkEnd::entries)
    out.note(fmt::format("There are too many files to look at all: {}.", narrower));
  if (report.left_out > 0)
    out.note(fmt::format("Left out, since rules or the sandbox hide it: {}.", report.left_out));
  if (report.unreadable > 0)
    out.note(fmt::format("Folders that the system does not let be read: {}.", report.unreadable));
}

}  // namespace agentrt::adapters::tools
