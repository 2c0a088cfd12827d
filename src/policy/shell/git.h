// policy/shell/git.h: finds git's subcommand after its global options.
#pragma once

#include <cstddef>
#include <vector>

#include "policy/shell/args.h"

namespace agentrt::policy::shell {

enum class GlobalOptions { harmless, all };

// The index of the subcommand after global options of the given kind; args.size() if there is none,
// kNoWord if it cannot be determined.
std::size_t git_subcommand(const std::vector<Arg>& args, GlobalOptions options);

}  // namespace agentrt::policy::shell
