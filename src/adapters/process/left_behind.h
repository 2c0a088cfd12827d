// adapters/process/left_behind.h: detects files a command left in its workspace that programs
// outside the sandbox execute or obey.
//
// A command may create repositories and write configuration that editors and package managers read.
// The sandbox cannot prevent that, so it reports it: take a snapshot of these files before the
// command starts and compare when it has ended. Blocking; bounded by the search limits of
// repositories.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "adapters/process/repositories.h"
#include "schema/facts/permission.h"
#include "schema/sandbox.h"

namespace agentrt::adapters {

inline constexpr std::size_t kFindingsMax = 20;             // reported per command
inline constexpr std::size_t kConfigBytesMax = 256 * 1024;  // read per configuration file

// A snapshot to take before the command starts, serialized so that another process can compare it
// later. Empty if the profile makes nothing or everything writable. `repositories`: those that the
// sandbox was set up with (repositories_of() in sandbox.h).
std::string state_of_workspace(const schema::SandboxProfile& profile,
                               const Repositories& repositories);

// Files that are new or changed since `before`, as advisory violations. Marks new repositories as
// made inside the sandbox.
std::vector<schema::SandboxViolation> left_behind(std::string_view before);

}  // namespace agentrt::adapters
