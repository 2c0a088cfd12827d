// cli/sessions/rollback.cc: `agentrt rollback`: takes a thread back to the end of an earlier turn,
// after it has shown what that removes and what remains.
#include <fmt/format.h>

#include "cli/decisions/keyboard.h"
#include "cli/known_session.h"
#include "cli/option_word.h"
#include "cli/sessions/event_pages.h"
#include "cli/sessions/rollback_text.h"
#include "cli/verbs.h"
#include "schema/commands.h"

namespace agentrt::cli {
namespace {

using schema::RestoreMode;

Result<schema::RollbackThreadReply> roll_back(const Client& client,
                                              const schema::RollbackThread& params,
                                              std::string& text) {
  TRY_ASSIGN(text, client.call("rollback_thread", schema::to_json(params)));
  schema::RollbackThreadReply reply;
  TRY(schema::from_json(text, reply, schema::Unknown::ignore));
  return reply;
}

enum class Answer { yes, no, nobody_to_ask };

Answer may_roll_back(Context& context, const RollbackArguments& arguments, Signals& signals) {
  if (arguments.yes) return Answer::yes;
  if (!context.output.screen().in_terminal || context.form() == Form::json) {
    context.output.problem(
        {Code::conflict, "A rollback asks first; add --yes to do it without a terminal.", {}});
    return Answer::nobody_to_ask;
  }
  const auto line = ask_line(context.output, signals, "Roll back now? [y/N] ");
  return line == "y" || line == "yes" ? Answer::yes : Answer::no;
}

// The user has approved the list of files: each is allowed once.
Result<void> allow(const Client& client, const ActionId& action) {
  schema::RespondAction params;
  params.action_id = action;
  params.decision = "allow";
  const auto reply = client.call("respond_action", schema::to_json(params));
  if (!reply && reply.error().code != Code::conflict) return std::unexpected(reply.error());
  return {};
}

// Follows the turn that restores files. Returns the exit code.
Result<int> follow_restore(const Client& client, Signals& signals, Context& context,
                           const schema::RollbackThreadReply& reply) {
  bool failed = false;
  const bool shows = context.form() == Form::text;
  const auto take = [&](const Envelope& event, const schema::Payload& payload) -> Result<void> {
    if (std::holds_alternative<schema::ActionRequired>(payload))
      return allow(client, event.action_id);
    if (const auto* result = std::get_if<schema::ToolResult>(&payload)) {
      if (shows) context.output.out(one_line(result->preview.value_or("")) + "\n");
    } else if (const auto* error = std::get_if<schema::ToolFailed>(&payload)) {
      failed = true;
      if (shows) context.output.err(one_line(error->error.message) + "\n");
    } else if (const auto* ended = std::get_if<schema::TurnFailed>(&payload)) {
      failed = true;
      if (shows) context.output.err("files are not restored: " + one_line(ended->reason) + "\n");
    }
    return {};
  };
  TRY_ASSIGN(const bool ended, follow_turn(client, signals, reply.session_id,
                                           *reply.restore_turn_id, reply.sequence, take));
  if (!ended) return kExitInterrupted;
  return failed ? kExitFailed : kExitDone;
}

Result<schema::RollbackThread> params_of(const Client& client, const RollbackArguments& arguments) {
  schema::RollbackThread params;
  params.session_id = SessionId{arguments.session};
  params.turn_id = TurnId{arguments.turn};
  TRY_ASSIGN(params.thread_id,
             thread_of(client, params.session_id, arguments.thread, arguments.turn));
  TRY_ASSIGN(params.restore, option_word<RestoreMode>("--restore", arguments.restore));
  if (arguments.interrupt) params.interrupt = true;
  return params;
}

Result<int> rollback(Context& context, const RollbackArguments& arguments, const Client& client,
                     Signals& signals) {
  TRY_ASSIGN(schema::RollbackThread params, params_of(client, arguments));
  const auto mode = params.restore;
  std::string text;
  params.restore = RestoreMode::preview;
  TRY_ASSIGN(const auto preview, roll_back(client, params, text));
  const Screen& screen = context.output.screen();
  const bool json = context.form() == Form::json;
  if (mode == RestoreMode::preview || removes_nothing(preview)) {
    if (json)
      print_json(context, text);
    else
      context.output.out(removes_nothing(preview)
                             ? "there is nothing to remove\n"
                             : rollback_text(preview, screen.width, screen.out_colour));
    return kExitDone;
  }
  if (!json) context.output.out(rollback_text(preview, screen.width, screen.out_colour));
  const Answer answer = may_roll_back(context, arguments, signals);
  if (answer == Answer::nobody_to_ask) return kExitNeedsPerson;
  if (answer == Answer::no) return kExitInterrupted;
  params.restore = mode;
  params.idempotency_key = own_key("rollback");
  TRY_ASSIGN(const auto reply, roll_back(client, params, text));
  if (json) print_json(context, text);
  if (!json)
    context.output.out(fmt::format("thread {} continues after turn {}\n",
                                   one_line(reply.thread_id.text()), one_line(arguments.turn)));
  if (!reply.restore_turn_id) return kExitDone;
  return follow_restore(client, signals, context, reply);
}

}  // namespace

int rollback_thread(Context& context, const RollbackArguments& arguments) {
  return with_runtime(context, [&](const Client& client, Signals& signals) {
    return rollback(context, arguments, client, signals);
  });
}

}  // namespace agentrt::cli
