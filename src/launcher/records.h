// launcher/records.h: the record files of a command, and the start time that identifies a process.
#pragma once

#include <sys/types.h>

#include "launcher/link.h"

namespace agentrt::launcher {

// The start time of the process in clock ticks since boot. Pid and start time together identify a
// process, because pids are reused. 0: there is no such process.
std::uint64_t start_ticks(pid_t pid);

// Durability of a record. kept: after a power cut the file is complete or absent. passing: only
// concurrent readers have that guarantee; after a power cut the process is gone anyway.
enum class Worth { kept, passing };
// Bytes allocated in advance, so that a full disk does not prevent the record.
inline constexpr long kRecordRoom = 4'096;
// A file that appears only when its content is complete. It is created under a temporary name in
// advance and renamed at the end. It belongs to an open folder: if that folder was removed, nothing
// is written, even if a new folder has the same path.
class Record {
 public:
  // REQUIRES: `folder` stays open as long as this object. False: failed, see errno.
  bool open(int folder, const std::string& name);
  void keep(const std::string& text, Worth worth);

 private:
  std::string draft() const { return "." + name_; }

  int folder_ = -1;
  std::string name_;
  Fd file_;
};

// Overwrites the start of an existing file with `text`. False: failed, see errno.
bool write_into(const std::string& path, const std::string& text);

}  // namespace agentrt::launcher
