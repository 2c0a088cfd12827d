// cli/chat/own_command.h: runs a command of the user, as a shell at this terminal would.
//
// The agent has no part in it: no sandbox, no approval, nothing in the log. The command has the
// terminal while it runs, so Ctrl-C ends the command and not the conversation.
#pragma once

#include <string>

namespace agentrt::cli {

struct OwnOutput {
  std::string text;       // what it printed, at most kOwnOutputBytesMax, the end of it
  std::size_t bytes = 0;  // printed in total
  int exit_code = 0;      // 128 and the signal, if one ended it
};

inline constexpr std::size_t kOwnOutputBytesMax = std::size_t{256} * 1024;

// Prints the output as it comes, on standard output. `shell`: the user's.
OwnOutput run_own_command(const std::string& shell, const std::string& command,
                          const std::string& folder);

}  // namespace agentrt::cli
