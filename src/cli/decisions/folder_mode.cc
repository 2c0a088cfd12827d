#include "cli/decisions/folder_mode.h"

#include <fmt/format.h>

#include "cli/decisions/keyboard.h"
#include "cli/views/layout.h"

namespace agentrt::cli {

using schema::PermissionMode;

Result<schema::RulesReply> read_rules(const Client& client, const schema::GetRules& query) {
  TRY_ASSIGN(const std::string text, client.call("get_rules", schema::to_json(query)));
  schema::RulesReply rules;
  TRY(schema::from_json(text, rules, schema::Unknown::ignore));
  return rules;
}

Result<void> set_folder_mode(const Client& client, const std::string& folder, PermissionMode mode) {
  schema::GetRules query;
  query.cwd = folder;
  TRY_ASSIGN(const schema::RulesReply rules, read_rules(client, query));
  if (rules.mode_origin && rules.mode_origin != schema::RuleOrigin::always)
    return fail(
        Code::conflict,
        fmt::format("A configuration file ({}) sets the mode {} in {}; change it there.",
                    schema::name_of(*rules.mode_origin), schema::name_of(rules.mode), folder));
  schema::SetFolderPolicy command;
  command.cwd = folder;
  command.mode = mode;
  TRY(client.call("set_folder_policy", schema::to_json(command)));
  return {};
}

Result<bool> lacks_folder_mode(const Client& client, const std::string& folder) {
  schema::GetRules query;
  query.cwd = folder;
  TRY_ASSIGN(const schema::RulesReply rules, read_rules(client, query));
  return !rules.mode_origin;
}

std::string kept_mode_text(PermissionMode mode) {
  return fmt::format(
      "kept for this folder: mode {}; agentrt rules shows it, agentrt rules --mode MODE changes it",
      schema::name_of(mode));
}

std::optional<PermissionMode> choose_folder_mode(Output& output, Signals& signals,
                                                 const std::string& folder) {
  const Screen& screen = output.screen();
  const Paper paper{screen.err_terminal ? screen.width : 0, screen.err_colour};
  std::string question =
      "\n" + paint("How should commands run in this folder?", Paint::bold, paper.colour) + "\n\n";
  add_row(question, "folder", folder, Paint::plain, paper);
  add_row(question, "sandbox",
          "no network, writes only in this folder, no keys or tokens to read; leaving it is always "
          "asked about",
          Paint::plain, paper);
  question += "\n";
  const std::string keys = keys_text(
      {{"1", "in the sandbox, without asking (recommended)"}, {"2", "ask me before each command"}},
      paper);
  std::string prompt = question + keys;
  while (true) {
    const auto line = ask_line(output, signals, prompt);
    if (!line) {
      output.err("\n");
      return std::nullopt;
    }
    if (*line == "1") return PermissionMode::on_request;
    if (*line == "2") return PermissionMode::default_;
    prompt.clear();
    add_paragraph(prompt, "not accepted: type 1 or 2", Paint::yellow, paper);
    prompt += keys;
  }
}

Result<void> ask_folder_mode(const Client& client, Output& output, Signals& signals,
                             const std::string& folder) {
  TRY_ASSIGN(const bool lacks, lacks_folder_mode(client, folder));
  if (!lacks) return {};
  const auto mode = choose_folder_mode(output, signals, folder);
  if (!mode) return {};
  TRY(set_folder_mode(client, folder, *mode));
  const Screen& screen = output.screen();
  std::string text;
  add_paragraph(text, kept_mode_text(*mode), Paint::dim,
                {screen.err_terminal ? screen.width : 0, screen.err_colour});
  output.err(text + "\n");
  return {};
}

}  // namespace agentrt::cli
