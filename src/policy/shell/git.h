// policy/shell/git.h: where git's subcommand stands, behind the options that may come before it.
#pragma once

#include <cstddef>
#include <vector>

#include "policy/shell/args.h"

namespace agentrt::policy::shell {

enum class GlobalOptions { harmless, all };

// The index of the subcommand after options of that kind; the number of words when there is none,
// kNoWord when it cannot be known.
std::size_t git_subcommand(const std::vector<Arg>& args, GlobalOptions options);

}  // namespace agentrt::policy::shell
