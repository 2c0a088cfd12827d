// cli/turns/piped_input.h: what was piped to a command beside its arguments, as in
// `git diff | agentrt run "review this"`.
#pragma once

#include <optional>
#include <string>

#include "cli/output.h"

namespace agentrt::cli {

// All of standard input, at most kPipedBytesMax. nullopt: standard input is a terminal, is closed
// or has nothing to read. Errors: invalid_params (too long, not text).
//
// A command that a program started may have got a pipe or socket that stays open and that nobody
// writes to. Nothing tells it from one whose writer is slow, except the processes that have it
// open:
// - another process has it as its standard output: a pipeline, which is waited for without limit;
// - it is the parent's standard input, too: it was only passed on, and is ignored after
//   kPassedOnMs without a byte;
// - anything else is ignored after kGivenMs without a byte.
// A note says that standard input was ignored.
Result<std::optional<std::string>> piped_input(Output& output);

inline constexpr int kPassedOnMs = 1'000;
inline constexpr int kGivenMs = 3'000;

}  // namespace agentrt::cli
