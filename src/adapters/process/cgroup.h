// adapters/process/cgroup.h: the cgroups in which this process may make others.
//
// A command gets a cgroup of its own below the runtime's, so that whatever bounds the runtime
// bounds its commands too. Version 1 has one tree for processes and one for memory; in version 2
// it is the nearest cgroup at or above our own that is ours and hands both on to its children.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agentrt::adapters {

// As /proc/self/cgroup and /proc/self/mountinfo tell it: where this process is, per tree. Folders
// that may not be there or not be ours.
struct CgroupPlaces {
  std::vector<std::string> legacy;   // of pids and memory
  std::string unified, unified_top;  // ours, and the top of what is visible; empty: none
};
CgroupPlaces cgroup_places(std::string_view cgroups, std::string_view mounts);

// A folder that is seen through several mounts counts once; one that is not there, not at all.
std::vector<std::string> each_once(const std::vector<std::string>& folders);

// Where a group for a command may be made on this machine; empty: nowhere. Looked up once; groups
// that launchers left behind that were killed are removed then.
const std::vector<std::string>& writable_cgroups();

}  // namespace agentrt::adapters
