// runtime/file_marks.h: what a file shows of itself without being read.
//
// Two equal marks, the first of which is settled, mean that nobody has changed the file in between:
// whatever changes a file gives it a new change time, which cannot be set by hand. A time that is
// still close to now could be given twice, so such a mark says nothing.
// Thread rule: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/config.h"

namespace agentrt::runtime {

// Coarser than the clock of any file system that is in use.
inline constexpr std::int64_t kSettledAfterMs = 2'000;

struct FileMark {
  int error = 0;  // errno where it cannot be looked at; then nothing else counts
  std::uint64_t device = 0, inode = 0, size = 0;
  std::uint32_t mode = 0;
  std::int64_t modified_ns = 0, changed_ns = 0;

  bool operator==(const FileMark&) const = default;
};

// Of every file that load_config() looks for, and of the folders of a workspace on the way to them.
std::vector<FileMark> marks_of(const ConfigSources& sources);

// None of them changed later than kSettledAfterMs before `now_ms`, of the wall clock.
bool settled(const std::vector<FileMark>& marks, std::int64_t now_ms);

}  // namespace agentrt::runtime
