// config/file_marks.h: detects changes of a file by its metadata, without reading it.
//
// Two equal marks mean that the file is unchanged, provided that the first one is settled: every
// change updates the change time, which programs cannot set. A change time close to the present
// could be assigned to two changes, so an unsettled mark proves nothing. Callable from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"

namespace agentrt::config {

// Longer than the timestamp granularity of any file system in use.
inline constexpr std::int64_t kSettledAfterMs = 2'000;

struct FileMark {
  int error = 0;  // errno if stat failed; then all other members are unset
  std::uint64_t device = 0, inode = 0, size = 0;
  std::uint32_t mode = 0;
  std::int64_t modified_ns = 0, changed_ns = 0;

  bool operator==(const FileMark&) const = default;
};

// Marks of every file that load_config() looks for, and of the workspace folders that contain them.
std::vector<FileMark> marks_of(const ConfigSources& sources);

// Whether all changes are more than kSettledAfterMs older than `now_ms` (wall clock).
bool settled(const std::vector<FileMark>& marks, std::int64_t now_ms);

}  // namespace agentrt::config
