#include "config/file_marks.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

namespace agentrt::config {
namespace {

constexpr std::int64_t kNanos = 1'000'000'000, kNanosOfMilli = 1'000'000;

enum class Links { followed, themselves };

FileMark mark_of(const std::string& path, Links links) {
  FileMark mark;
  struct stat found{};
  if (::fstatat(AT_FDCWD, path.c_str(), &found,
                links == Links::themselves ? AT_SYMLINK_NOFOLLOW : 0) != 0) {
    mark.error = errno;
    return mark;
  }
  mark.device = found.st_dev;
  mark.inode = found.st_ino;
  mark.size = static_cast<std::uint64_t>(found.st_size);
  mark.mode = found.st_mode;
  mark.modified_ns = found.st_mtim.tv_sec * kNanos + found.st_mtim.tv_nsec;
  mark.changed_ns = found.st_ctim.tv_sec * kNanos + found.st_ctim.tv_nsec;
  return mark;
}

}  // namespace

std::vector<FileMark> marks_of(const ConfigSources& sources) {
  std::vector<FileMark> marks = {mark_of(sources.managed, Links::followed)};
  for (const auto* each : {&sources.user, &sources.claude, &sources.named})
    if (*each) marks.push_back(mark_of(**each, Links::followed));
  if (sources.workspace.empty()) return marks;
  const auto add = [&](std::string_view name) {
    marks.push_back(mark_of(sources.workspace + "/" + std::string(name), Links::themselves));
    return marks.back().error == 0;
  };
  const auto add_behind_folder = [&](std::string_view name) {
    if (add(name.substr(0, name.find('/')))) add(name);
  };
  add(kServersFile);
  add_behind_folder(kWorkspaceFile);
  for (const std::string_view name : kClaudeFiles) add_behind_folder(name);
  return marks;
}

bool settled(const std::vector<FileMark>& marks, std::int64_t now_ms) {
  const std::int64_t latest = (now_ms - kSettledAfterMs) * kNanosOfMilli;
  return std::ranges::all_of(
      marks, [&](const FileMark& mark) { return mark.error != 0 || mark.changed_ns <= latest; });
}

}  // namespace agentrt::config
