// adapters/process/cgroup.h: finds the cgroups in which this process may create child cgroups.
//
// Each command gets its own cgroup below the runtime's, so the runtime's limits also bound its
// commands. Cgroup v1 has one hierarchy for pids and one for memory. In v2 the parent is the
// nearest cgroup at or above our own that we may write to and that delegates both controllers to
// its children.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agentrt::adapters {

// The cgroup folders of this process per hierarchy, from the text of /proc/self/cgroup and
// /proc/self/mountinfo. A folder may be missing or not writable.
struct CgroupPlaces {
  std::vector<std::string> legacy;   // the pids and memory hierarchies (v1)
  std::string unified, unified_top;  // v2: our cgroup and the topmost visible one; empty: none
};
CgroupPlaces cgroup_places(std::string_view cgroups, std::string_view mounts);

// Removes missing folders, and duplicates of a folder visible through several mounts.
std::vector<std::string> each_once(const std::vector<std::string>& folders);

// The folders in which a cgroup for a command can be created; empty: none. Computed once per
// process; that first call also removes cgroups left by killed launchers.
const std::vector<std::string>& writable_cgroups();

}  // namespace agentrt::adapters
