// launcher/cgroup.h: a control group for one command, which counts its processes and its memory.
//
// The supervisor makes one below each cgroup that it was given, P1 enters it, and the supervisor
// removes it once nothing is left inside. All in the cgroups' own files: version 1 and 2 differ in
// nothing but file names here. A cgroup that cannot be made is no reason to stop; it is reported.
#pragma once

#include <algorithm>

#include "launcher/link.h"

namespace agentrt::launcher {

inline constexpr const char* kGroupPrefix = "agentrt-run-";  // the supervisor's pid behind it

class CommandGroups {
 public:
  void make(const Spec& spec);

  // The file of each that a process enters by, open for writing.
  std::vector<int> entries() const;
  void close_entries();
  bool any() const { return !groups_.empty(); }
  bool limits_memory() const { return std::ranges::any_of(groups_, &Group::memory); }
  bool limits_processes() const { return std::ranges::any_of(groups_, &Group::processes); }
  // What is in force, or why nothing is.
  std::string how() const;

  // The limits that were run into: memory, processes.
  std::vector<std::string> hits() const;
  // Once nothing is left inside.
  void remove();

 private:
  struct Group {
    std::string folder;
    Fd entry;
    int version = 2;
    bool memory = false, processes = false;  // limits them
  };
  static void set_limits(Group& group, const Spec& spec);

  std::vector<Group> groups_;
  std::string reason_;
  std::uint64_t memory_bytes_ = 0, processes_max_ = 0;
};

}  // namespace agentrt::launcher
