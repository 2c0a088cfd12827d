// cli/decisions/rules.cc: `agentrt rules` and `agentrt rules remove`.
#include <algorithm>

#include <fmt/format.h>

#include "base/near_names.h"
#include "cli/decisions/folder_mode.h"
#include "cli/option_word.h"
#include "cli/sessions/session_ids.h"
#include "cli/verbs.h"
#include "cli/views/rules_view.h"

namespace agentrt::cli {
namespace {

constexpr std::size_t kGrantedShownMax = 8;

// The rules of a session, or those of a folder.
Result<schema::RulesReply> rules_of(const Client& client, const std::optional<std::string>& session,
                                    const std::string& workspace) {
  schema::GetRules query;
  if (session) {
    TRY_ASSIGN(query.session_id, find_session(client, *session));
  } else {
    query.cwd = workspace;
  }
  return read_rules(client, query);
}

Result<void> check_granted(const schema::RulesReply& rules, const std::string& rule) {
  std::vector<std::string> granted;
  for (const schema::PolicyRule& each : rules.rules) {
    const bool of_person = each.granted_at || each.origin == schema::RuleOrigin::always ||
                           each.origin == schema::RuleOrigin::session ||
                           each.origin == schema::RuleOrigin::channel;
    if (each.rule == rule && of_person) return {};
    if (each.rule == rule)
      return fail(Code::conflict,
                  fmt::format("The rule {} comes from a configuration file ({}); edit that file.",
                              rule, schema::name_of(each.origin)));
    if (of_person) granted.push_back(each.rule);
  }
  std::string advice = "agentrt rules lists the rules in force";
  if (const auto near = near_names(rule, granted); !near.empty())
    advice = fmt::format("did you mean {}?", fmt::join(near, " or "));
  else if (!granted.empty() && granted.size() <= kGrantedShownMax)
    advice = fmt::format("granted are: {}", fmt::join(granted, ", "));
  return fail(Code::not_found, fmt::format("No rule {} was granted here; {}{}", rule, advice,
                                           advice.ends_with('?') ? "" : "."));
}

}  // namespace

int list_rules(Context& context, const RulesArguments& arguments) {
  const auto workspace = folder_option("--cwd", arguments.cwd);
  if (!workspace) return context.output.problem(workspace.error());
  const auto mode = option_word<schema::PermissionMode>("--mode", arguments.mode);
  if (!mode) return context.output.problem(mode.error());
  const std::string folder = workspace->value_or(context.cwd);
  return with_runtime(context, [&](const Client& client, Signals&) -> Result<int> {
    if (*mode) TRY(set_folder_mode(client, folder, **mode));
    TRY_ASSIGN(const schema::RulesReply rules, rules_of(client, arguments.session, folder));
    Output& output = context.output;
    const Screen& screen = output.screen();
    output.out(context.form() == Form::json
                   ? schema::to_json(rules) + "\n"
                   : rules_text(rules, now_of_clock(),
                                {screen.out_terminal ? screen.width : 0, screen.out_colour}));
    return kExitDone;
  });
}

int remove_rules(Context& context, const RemoveRuleArguments& arguments) {
  const auto workspace = folder_option("--cwd", arguments.cwd);
  if (!workspace) return context.output.problem(workspace.error());
  const std::string folder = workspace->value_or(context.cwd);
  return with_runtime(context, [&](const Client& client, Signals&) -> Result<int> {
    TRY_ASSIGN(const schema::RulesReply rules, rules_of(client, arguments.session, folder));
    for (const std::string& rule : arguments.rules) TRY(check_granted(rules, rule));
    std::string reply;
    if (arguments.session) {
      schema::SetPolicy command;
      command.session_id = rules.session_id.value_or(SessionId(*arguments.session));
      command.remove = arguments.rules;
      command.reason = "agentrt rules remove";
      TRY_ASSIGN(reply, client.call("set_policy", schema::to_json(command)));
    } else {
      schema::SetFolderPolicy command;
      command.cwd = folder;
      command.remove = arguments.rules;
      command.reason = "agentrt rules remove";
      TRY_ASSIGN(reply, client.call("set_folder_policy", schema::to_json(command)));
    }
    if (context.form() == Form::json) {
      context.output.out(reply + "\n");
      return kExitDone;
    }
    for (const std::string& rule : arguments.rules)
      context.output.out("removed " + one_line(rule) + "\n");
    context.output.hint("· it counts for no further turn; a turn that is running keeps its rules");
    return kExitDone;
  });
}

}  // namespace agentrt::cli
