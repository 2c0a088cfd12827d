// cli/sessions/compact.cc: `agentrt compact`: replaces the older part of a conversation, as models
// see it, by a summary, and shows how far that has come.
#include <fmt/format.h>

#include "cli/known_session.h"
#include "cli/sessions/event_pages.h"
#include "cli/verbs.h"
#include "schema/commands.h"

namespace agentrt::cli {
namespace {

// What the events of the compaction have said so far.
struct Progress {
  std::uint64_t pieces = 0;
  std::uint64_t done = 0;
  std::optional<schema::CompactionCompleted> completed;
  std::string error;
};

void take(const schema::Payload& payload, Progress& progress, Context& context) {
  if (const auto* started = std::get_if<schema::CompactionStarted>(&payload)) {
    progress.pieces = started->pieces.value_or(0);
  } else if (const auto* answer = std::get_if<schema::ModelCompleted>(&payload)) {
    if (!answer->purpose) return;
    ++progress.done;
    if (context.form() == Form::text && context.output.screen().out_terminal)
      context.output.out(fmt::format("piece {} of {}\n", progress.done, progress.pieces));
  } else if (const auto* completed = std::get_if<schema::CompactionCompleted>(&payload)) {
    progress.completed = *completed;
  } else if (const auto* failed = std::get_if<schema::CompactionFailed>(&payload)) {
    progress.error = failed->error ? failed->error->message : "no reason is known";
  } else if (const auto* ended = std::get_if<schema::TurnFailed>(&payload)) {
    if (progress.error.empty()) progress.error = ended->reason;
  }
}

Result<int> follow(const Client& client, Signals& signals, Context& context,
                   const schema::CompactThreadReply& reply) {
  Progress progress;
  TRY_ASSIGN(const bool ended,
             follow_turn(client, signals, reply.session_id, *reply.turn_id, reply.sequence,
                         [&](const Envelope&, const schema::Payload& payload) -> Result<void> {
                           take(payload, progress, context);
                           return {};
                         }));
  if (!ended) return kExitInterrupted;
  if (!progress.completed)
    return fail(Code::unavailable, "the conversation was not compacted: " + progress.error);
  if (context.form() == Form::json)
    print_json(context, schema::to_json(*progress.completed));
  else
    context.output.out(fmt::format("compacted: {} tokens instead of {}\n",
                                   progress.completed->tokens_after.value_or(0),
                                   progress.completed->tokens_before.value_or(0)));
  return kExitDone;
}

}  // namespace

int compact_thread(Context& context, const CompactArguments& arguments) {
  return with_runtime(context, [&](const Client& client, Signals& signals) -> Result<int> {
    schema::CompactThread params;
    params.session_id = SessionId{arguments.session};
    if (arguments.thread) {
      params.thread_id = ThreadId{*arguments.thread};
    } else {
      TRY_ASSIGN(const KnownSession known, look_up(client, params.session_id));
      params.thread_id = thread_to_use(known);
    }
    params.instructions = arguments.instructions;
    params.idempotency_key = own_key("compact");
    TRY_ASSIGN(const std::string text, client.call("compact_thread", schema::to_json(params)));
    schema::CompactThreadReply reply;
    TRY(schema::from_json(text, reply, schema::Unknown::ignore));
    if (reply.status != schema::CompactStatus::unchanged)
      return follow(client, signals, context, reply);
    if (context.form() == Form::json)
      print_json(context, text);
    else
      context.output.out("there is nothing to compact\n");
    return kExitDone;
  });
}

}  // namespace agentrt::cli
