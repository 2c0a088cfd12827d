// adapters/process/left_behind.h: what a command left in its workspace that programs outside obey.
//
// A command may make repositories, and may write files that editors and package managers read. The
// sandbox cannot forbid that; it reports it. Before a command starts, the state of these files is
// written down; when it has ended, the difference is found. Blocking; bounded by the search of
// repositories.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schema/facts/permission.h"
#include "schema/sandbox.h"

namespace agentrt::adapters {

inline constexpr std::size_t kFindingsMax = 20;             // reported of one command
inline constexpr std::size_t kConfigBytesMax = 256 * 1024;  // read of one configuration file

// The state before the command, as bytes that another process may compare later. Empty for a
// profile that lets nothing be written, or everything.
std::string state_of_workspace(const schema::SandboxProfile& profile);

// What is new or changed since `before`, as advisory violations. Repositories that appeared are
// marked as made inside.
std::vector<schema::SandboxViolation> left_behind(std::string_view before);

}  // namespace agentrt::adapters
