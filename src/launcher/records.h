// launcher/records.h: what stays on disk about a command, and how a process is named for good.
#pragma once

#include <sys/types.h>

#include "launcher/link.h"

namespace agentrt::launcher {

// When the process started, in the kernel's ticks since boot; with its id it names one process.
// 0: there is no such process.
std::uint64_t start_ticks(pid_t pid);

// Kept: whenever the power goes, the file is there whole or not at all. Passing: only a reader is
// sure of that; after a power cut the process is gone anyway.
enum class Worth { kept, passing };
inline constexpr long kRecordRoom = 4'096;  // bytes, set aside so that a full disk takes it
// One file in an open folder: one that was removed takes nothing, whatever stands at its path now.
// It is made under another name while there is time for it, and has its own once it is whole.
class Record {
 public:
  // REQUIRES: `folder` stays open. False: with errno.
  bool open(int folder, const std::string& name);
  void keep(const std::string& text, Worth worth);

 private:
  std::string draft() const { return "." + name_; }

  int folder_ = -1;
  std::string name_;
  Fd file_;
};

// Whole, into a file that is there. False: with errno.
bool write_into(const std::string& path, const std::string& text);

}  // namespace agentrt::launcher
