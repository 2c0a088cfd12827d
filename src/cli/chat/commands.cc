#include "cli/chat/commands.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "cli/views/layout.h"
#include "cli/views/terminal.h"

namespace agentrt::cli {
namespace {

constexpr SlashCommand kCommands[] = {
    {Slash::help, "/help", "", "this list"},
    {Slash::model, "/model", "[NAME]", "list the models, or use NAME from the next message on"},
    {Slash::mode, "/mode", "[MODE]",
     "show the permission mode, or use MODE from the next message on"},
    {Slash::sandbox, "/sandbox", "[PROFILE]",
     "show the sandbox profile, or use PROFILE from the next message on"},
    {Slash::rules, "/rules", "", "list the permission rules in force"},
    {Slash::approvals, "/approvals", "", "list requests of all sessions that wait for a decision"},
    {Slash::sessions, "/sessions", "", "list sessions"},
    {Slash::jobs, "/jobs", "", "list the jobs of the session"},
    {Slash::compact, "/compact", "[TEXT]",
     "replace older turns, as the model sees them, by a summary; TEXT says what it must mention"},
    {Slash::fork, "/fork", "",
     "start a thread that continues from the last ended turn; this one stays as it is"},
    {Slash::rollback, "/rollback", "TURN", "go back to the end of TURN; files stay as they are"},
    {Slash::undo, "/undo", "", "take back the last turn, with the changes it made to files"},
    {Slash::start_new, "/new", "", "start a new session in this folder"},
    {Slash::resume, "/resume", "[SEARCH]", "choose a session to continue"},
    {Slash::continue_turn, "/continue", "", "continue a turn that is blocked"},
    {Slash::queue, "/queue", "[N]", "list the queued messages, or take N back to edit it"},
    {Slash::promote, "/promote", "N", "move queued message N to the front"},
    {Slash::remove, "/remove", "N", "remove queued message N"},
    {Slash::interrupt, "/interrupt", "", "interrupt the running turn"},
    {Slash::rename, "/rename", "TITLE", "give the session a title"},
    {Slash::diff, "/diff", "[FILE]", "show the changes that the session made to files"},
    {Slash::output, "/output", "[N]", "show the whole output of call N"},
    {Slash::files, "/files", "", "list the files that the session changed"},
    {Slash::tasks, "/tasks", "", "show the tasks of the session as a tree"},
    {Slash::agents, "/agents", "", "show the subagents of the session, and what they are doing"},
    {Slash::mcp, "/mcp", "", "list the MCP servers and their tools"},
    {Slash::usage, "/usage", "", "show the tokens of the session, and their cost if it is known"},
    {Slash::quit, "/quit", "", "leave; a running turn keeps running"},
};

constexpr std::size_t kHelpColumnsMin = 48;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

}  // namespace

std::span<const SlashCommand> slash_commands() { return kCommands; }

bool is_slash(std::string_view line) {
  if (line.size() < 2 || line[0] != '/' || line.contains('\n')) return false;
  const std::string_view word = line.substr(1, line.find_first_of(" \t") - 1);
  return std::ranges::all_of(word, [](char c) { return c >= 'a' && c <= 'z'; }) && !word.empty();
}

bool is_own(std::string_view line) { return line.size() > 1 && line.starts_with('!'); }

Result<GivenCommand> read_slash(std::string_view line) {
  const std::size_t space = std::min(line.find_first_of(" \t"), line.size());
  const std::string_view name = line.substr(0, space);
  const std::string argument(trimmed(line.substr(space)));
  for (const SlashCommand& command : kCommands)
    if (command.name == name) return GivenCommand{command.slash, argument};
  const auto near = completions_of(name);
  if (near.size() == 1) return GivenCommand{near.front()->slash, argument};
  if (near.empty())
    return fail(Code::invalid_params,
                fmt::format("There is no command {}; /help lists them. To send a message that "
                            "begins with a slash, put a space before it.",
                            name));
  std::string names;
  for (const SlashCommand* command : near)
    names += (names.empty() ? "" : ", ") + std::string(command->name);
  return fail(Code::invalid_params, fmt::format("{} can be {}.", name, names));
}

Result<std::size_t> read_number(std::string_view text, std::string_view what) {
  std::size_t number = 0;
  if (text.starts_with('#')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0)
    return fail(Code::invalid_params, std::string(what));
  return number;
}

std::vector<const SlashCommand*> completions_of(std::string_view typed) {
  std::vector<const SlashCommand*> out;
  for (const SlashCommand& command : kCommands)
    if (command.name.starts_with(typed)) out.push_back(&command);
  return out;
}

std::string common_start(const std::vector<const SlashCommand*>& commands) {
  if (commands.empty()) return {};
  std::string_view common = commands.front()->name;
  for (const SlashCommand* command : commands) {
    const auto differs = std::ranges::mismatch(common, command->name);
    common = common.substr(0, static_cast<std::size_t>(differs.in1 - common.begin()));
  }
  return std::string(common);
}

std::string help_text(std::size_t width, bool colour) {
  const Paper paper{width, colour ? Colour::on : Colour::off};
  std::vector<KeyRow> commands;
  for (const SlashCommand& command : kCommands)
    commands.push_back(
        {fmt::format("{} {}", command.name, command.argument), std::string(command.meaning)});
  const std::vector<KeyRow> keys = {
      {"Enter", "send the message; while a turn runs, queue it"},
      {"Alt-Enter", "begin a new line; so does a backslash before Enter"},
      {"Esc, Ctrl-C", "interrupt the turn; Ctrl-C again leaves"},
      {"Ctrl-D", "leave; a running turn keeps running"},
      {"Up, Down", "earlier messages, or lines of this one"},
      {"Ctrl-R", "search the earlier messages"},
      {"Alt-Up", "take the last queued message back to edit it"},
      {"Tab", "complete a command, or a file after @"},
      {"!COMMAND", "run a command of your own; its output can be sent with the next message"},
  };
  const auto listed = [&](const std::vector<KeyRow>& rows) {
    if (width > 0 && width < kHelpColumnsMin) {  // the meaning below, not beside
      std::string out;
      for (const KeyRow& row : rows) {
        out += paint(row.key, Paint::cyan, paper.colour) + "\n";
        add_paragraph(out, row.meaning, Paint::plain, paper);
      }
      return out;
    }
    std::string text = keys_text(rows, paper);
    return text.substr(0, text.rfind("  > "));
  };
  return paint("Keys", Paint::bold, paper.colour) + "\n" + listed(keys) + "\n" +
         paint("Commands", Paint::bold, paper.colour) + "\n" + listed(commands);
}

}  // namespace agentrt::cli
