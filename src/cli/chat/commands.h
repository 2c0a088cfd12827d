// cli/chat/commands.h: the commands of a conversation that begin with a slash, and their
// completion. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace agentrt::cli {

enum class Slash {
  help,
  model,
  mode,
  sandbox,
  rules,
  approvals,
  sessions,
  jobs,
  compact,
  fork,
  rollback,
  undo,
  start_new,
  resume,
  continue_turn,
  queue,
  promote,
  remove,
  interrupt,
  rename,
  diff,
  output,
  files,
  tasks,
  agents,
  mcp,
  usage,
  quit,
};

struct SlashCommand {
  Slash slash;
  std::string_view name;      // with the slash
  std::string_view argument;  // as the help shows it; empty: none
  std::string_view meaning;
};
std::span<const SlashCommand> slash_commands();

struct GivenCommand {
  Slash slash = Slash::help;
  std::string argument;  // without spaces around it; may be empty
};
// Whether the line is a command: one line that begins with a slash and a letter, and whose first
// word is not a path.
bool is_slash(std::string_view line);
// Whether the line is a command of the user: !COMMAND.
bool is_own(std::string_view line);
// Parses a line that is_slash(). A unique beginning of a name is accepted. The error names near
// commands.
Result<GivenCommand> read_slash(std::string_view line);
// A number from 1 on, as /promote, /remove and /output take it.
Result<std::size_t> read_number(std::string_view text, std::string_view what);

// The commands that begin with `typed`, which begins with a slash.
std::vector<const SlashCommand*> completions_of(std::string_view typed);
// The longest text that all of these commands begin with.
std::string common_start(const std::vector<const SlashCommand*>& commands);

std::string help_text(std::size_t width, bool colour);

}  // namespace agentrt::cli
