// launcher/cgroup.h: the cgroups of one command, which limit its processes and memory.
//
// The supervisor creates one below each given cgroup, P1 enters it, and the supervisor removes it
// when it is empty. Everything goes through cgroup files; for this use, v1 and v2 differ only in
// file names. A cgroup that cannot be created does not stop the command; the reason is reported.
#pragma once

#include <algorithm>

#include "launcher/link.h"

namespace agentrt::launcher {

inline constexpr const char* kGroupPrefix = "agentrt-run-";  // followed by the supervisor's pid

class CommandGroups {
 public:
  void make(const Spec& spec);

  // The files through which a process enters the cgroups, open for writing.
  std::vector<int> entries() const;
  void close_entries();
  bool any() const { return !groups_.empty(); }
  bool limits_memory() const { return std::ranges::any_of(groups_, &Group::memory); }
  bool limits_processes() const { return std::ranges::any_of(groups_, &Group::processes); }
  // A description of the limits in force, or the reason why there are none.
  std::string how() const;

  // The limits that were reached: memory, processes.
  std::vector<std::string> hits() const;
  // Call when no process is left inside.
  void remove();

 private:
  struct Group {
    std::string folder;
    Fd entry;
    int version = 2;
    bool memory = false, processes = false;  // whether it limits them
  };
  static void set_limits(Group& group, const Spec& spec);

  std::vector<Group> groups_;
  std::string reason_;
  std::uint64_t memory_bytes_ = 0, processes_max_ = 0;
};

}  // namespace agentrt::launcher
