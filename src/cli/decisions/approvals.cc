// cli/decisions/approvals.cc: `agentrt approvals`, `approve` and `deny`.
#include <fmt/format.h>

#include "cli/decisions/asking.h"
#include "cli/decisions/open_actions.h"
#include "cli/option_word.h"
#include "cli/sessions/session_ids.h"
#include "cli/verbs.h"
#include "cli/views/action_view.h"
#include "cli/views/form_view.h"
#include "cli/views/session_view.h"
#include "schema/tools.h"

namespace agentrt::cli {
namespace {

Result<ListReply> waiting(const Client& client, const ApprovalsArguments& arguments) {
  schema::ListActions params;
  if (arguments.session) {
    TRY_ASSIGN(params.session_id, find_session(client, *arguments.session));
  }
  if (arguments.all) params.include_resolved = true;
  return list_all_actions(client, std::move(params));
}

Result<schema::RespondAction> answer_of(const AnswerArguments& arguments) {
  schema::RespondAction answer;
  answer.action_id = ActionId(arguments.action);
  answer.decision = arguments.decision;
  answer.digest = arguments.digest;
  answer.reason = arguments.reason;
  answer.rule = arguments.rule;
  TRY_ASSIGN(answer.scope, option_word<schema::AnswerScope>("--scope", arguments.scope));
  if (arguments.answer) {
    answer.decision = "answer";
    answer.payload = schema::Json{schema::to_json(schema::AskUserAnswer{*arguments.answer})};
  }
  return answer;
}

// Adapts allow or deny to the kind of action: `deny` cancels a question and declines an MCP
// server's form.
Result<void> fit(const schema::ActionSnapshot& action, const AnswerArguments& arguments,
                 schema::RespondAction& answer) {
  const bool yes = answer.decision != "deny";
  if (action.action_type == schema::kInputAction && !yes) answer.decision = "cancel";
  if (action.action_type != schema::kElicitationAction) return {};
  answer.decision = yes ? "accept" : "decline";
  answer.payload.reset();
  if (!yes || action.url) return {};
  const auto fields = form_fields(action.schema.value_or(schema::Json{"{}"}));
  const auto read = read_form(fields, arguments.answer.value_or(""));
  if (read) {
    answer.payload = *read;
    return {};
  }
  std::string names;
  for (const FormField& field : fields)
    names += fmt::format("{}{}={}", names.empty() ? "" : ", ", field.name, field.type);
  return fail(
      Code::invalid_params,
      fmt::format(
          "The MCP server asks for {}: {}; give the values with --answer, also as a JSON object.",
          names.empty() ? "a JSON object" : names, read.error().message));
}

// Adapts the answer if the action is still open; otherwise the runtime reports its outcome.
Result<void> fit_to_waiting(const Client& client, const AnswerArguments& arguments,
                            schema::RespondAction& answer) {
  TRY_ASSIGN(const auto actions, open_actions(client, {}));
  for (const schema::ActionSnapshot& action : actions)
    if (action.action_id == answer.action_id) return fit(action, arguments, answer);
  return {};
}

}  // namespace

int list_approvals(Context& context, const ApprovalsArguments& arguments) {
  return with_runtime(context, [&](const Client& client, Signals&) -> Result<int> {
    TRY_ASSIGN(const ListReply list, waiting(client, arguments));
    Output& output = context.output;
    if (context.form() == Form::json) {
      output.out(schema::to_json(list) + "\n");
      return kExitDone;
    }
    TRY_ASSIGN(const auto actions, decode_actions(list));
    output.out(
        actions_text(actions, now_of_clock(), {output.screen().width, output.screen().out_colour}));
    if (!actions.empty()) output.hint("· answer with agentrt approve ID or agentrt deny ID");
    return kExitDone;
  });
}

int answer_action(Context& context, const AnswerArguments& arguments) {
  if (!well_formed_id(arguments.action))
    return context.output.problem(
        {Code::invalid_params,
         arguments.action + " is not the id of a request; agentrt approvals lists them.",
         {}});
  auto answer = answer_of(arguments);
  if (!answer) return context.output.problem(answer.error());
  answer->idempotency_key = own_key("answer");
  return with_runtime(context, [&](const Client& client, Signals&) -> Result<int> {
    schema::RespondAction fitted = *answer;
    TRY(fit_to_waiting(client, arguments, fitted));
    TRY_ASSIGN(const std::string reply, client.call("respond_action", schema::to_json(fitted)));
    if (context.form() == Form::json)
      context.output.out(reply + "\n");
    else
      context.output.out(fmt::format("{}: {}\n", arguments.action, fitted.decision));
    return kExitDone;
  });
}

}  // namespace agentrt::cli
