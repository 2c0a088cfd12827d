// control/context/fork.cc: decides how a thread is forked: a new thread begins with the
// conversation of another one, up to the end of one of its turns.
//
// Only the point in the log is recorded. The conversation is read from the facts of both threads,
// also if the new thread is in another session.
#include <fmt/format.h>

#include "control/context/threads.h"
#include "control/jobs/jobs.h"
#include "control/turn_facts.h"

namespace agentrt::control {

using namespace schema;

namespace {

// The id of the new thread is in use: the same params get the same reply, others are refused.
Decided repeated(const Session& view, const Thread& existing, const Inputs& inputs) {
  if (!existing.fork || existing.fork->params_hash != inputs.params_hash)
    return refuse(Code::idempotency_conflict,
                  fmt::format("thread {} already exists and was not started with these params",
                              existing.id.text()));
  return Unchanged{to_json(ForkThreadReply{.session_id = view.id,
                                           .thread_id = existing.id,
                                           .forked_from = existing.fork->from,
                                           .sequence = existing.fork->at})};
}

// The turn up to which the new thread inherits.
Result<TurnId> last_inherited(const Thread& source, const ForkThread& command) {
  if (command.turn_id) {
    const Turn* turn = find_turn(source, *command.turn_id);
    if (turn && !ended(turn->status)) return std::unexpected(not_ended(*turn));
    return *command.turn_id;
  }
  if (source.last) return source.last->ids.turn;
  if (source.active) return std::unexpected(not_ended(*source.active));
  if (source.fork)
    return fail(Code::conflict,
                fmt::format("no turn of thread {} has ended: fork thread {}, from which it was "
                            "forked",
                            source.id.text(), source.fork->from.thread_id.text()));
  return fail(Code::conflict, fmt::format("no turn of thread {} has ended", source.id.text()));
}

std::optional<Error> too_deep(const Thread& source) {
  if (!source.fork || source.fork->parts.size() < kForkDepthMax) return std::nullopt;
  return Error{Code::limit_exceeded,
               fmt::format("a chain of forks has at most {} members", kForkDepthMax),
               {}};
}

// What the new thread begins with, for a session other than `source.session` if `elsewhere`.
ThreadStarted started_of(const ForkSource& source, const LaneReads::EndedTurn& turn,
                         bool elsewhere) {
  ThreadStarted started;
  started.forked_from = ForkPoint{.session_id = source.session,
                                  .thread_id = source.thread,
                                  .turn_id = source.turn,
                                  .sequence = turn.end,
                                  .hash = turn.hash};
  std::vector<InheritedPart>& parts = started.inherited.emplace(source.parts);
  parts.push_back({.thread_id = source.thread, .up_to = turn.end});
  for (const ContextBoundary& boundary : source.boundaries)
    if (boundary.session_id || boundary.sequence <= turn.end) started.context_boundary = boundary;
  if (!elsewhere) return started;
  for (InheritedPart& part : parts)
    if (!part.session_id) part.session_id = source.session;
  if (started.context_boundary && !started.context_boundary->session_id)
    started.context_boundary->session_id = source.session;
  return started;
}

// The turn has not ended, or the session has no such turn of the thread.
std::optional<Error> unknown_turn(const SessionId& session, const ForkSource& source,
                                  const std::optional<LaneReads::EndedTurn>& known) {
  if (known && known->thread == source.thread && known->end > 0) return std::nullopt;
  return no_turn(session, source.thread, source.turn);
}

// The session exists: the same params get the same reply, others are refused.
Decided repeated_elsewhere(const Session& view, const Inputs& inputs) {
  if (!view.forked || view.params_hash != inputs.params_hash)
    return refuse(Code::idempotency_conflict,
                  fmt::format("session {} already exists and was not started with these params",
                              view.id.text()));
  return Unchanged{to_json(ForkThreadReply{.session_id = view.id,
                                           .thread_id = view.forked->thread,
                                           .forked_from = view.forked->from,
                                           .sequence = view.forked->at})};
}

// Granted rules and modes stay behind in the session of the source.
Decided fork_elsewhere(const Session& view, const ForkThread& command, Inputs inputs) {
  if (inputs.bound)
    return refuse(Code::forbidden,
                  "the token is bound to one session: it cannot fork into another");
  if (view.exists()) return repeated_elsewhere(view, inputs);
  if (!inputs.named.fork) return refuse(Code::unavailable, "the source was not read");
  if (!*inputs.named.fork) return inputs.named.fork->error();
  const ForkSource& source = **inputs.named.fork;
  if (auto error = unknown_turn(source.session, source, inputs.named.fork_end)) return *error;
  Facts facts{view, inputs};
  SessionCreated created{.cwd = source.cwd};
  if (source.title) created.title = *source.title + " (fork)";
  created.additional_roots = source.additional_roots;
  created.params_hash = inputs.params_hash;
  facts.add(facts.of_session(), std::move(created));
  const ThreadId fresh =
      command.new_thread_id ? *command.new_thread_id : inputs.ids.next<ThreadId>();
  ThreadStarted started = started_of(source, *inputs.named.fork_end, true);
  const ForkPoint from = *started.forked_from;
  facts.add(facts.of(fresh), std::move(started));
  return accept(
      facts,
      ForkThreadReply{
          .session_id = inputs.session, .thread_id = fresh, .forked_from = from, .sequence = 0});
}

}  // namespace

Result<ForkSource> fork_source(const Session& view, const ForkThread& command) {
  if (!view.exists())
    return fail(Code::not_found, fmt::format("there is no session {}", command.session_id.text()));
  if (auto error = thread_of_job(view, command.thread_id)) return std::unexpected(*error);
  const Thread* thread = find_thread(view, command.thread_id);
  if (!thread) return std::unexpected(no_open_thread(view.id, command.thread_id));
  ForkSource out;
  TRY_ASSIGN(out.turn, last_inherited(*thread, command));
  if (auto error = too_deep(*thread)) return std::unexpected(*error);
  out.session = view.id;
  out.thread = thread->id;
  out.cwd = view.cwd;
  out.additional_roots = view.additional_roots;
  out.title = view.title;
  if (thread->fork) out.parts = thread->fork->parts;
  out.boundaries = thread->boundaries;
  return out;
}

Decided fork_thread(const Session& view, const ForkThread& command, Inputs inputs) {
  if (command.new_session_id && *command.new_session_id != command.session_id)
    return fork_elsewhere(view, command, std::move(inputs));
  if (command.new_thread_id && view.exists()) {
    if (const Thread* existing = find_thread(view, *command.new_thread_id))
      return repeated(view, *existing, inputs);
    if (inputs.named.thread_closed)
      return refuse(Code::conflict,
                    fmt::format("thread {} is closed", command.new_thread_id->text()),
                    R"({"status":"closed"})");
  }
  const auto source = fork_source(view, command);
  if (!source) return source.error();
  if (auto error = unknown_turn(view.id, *source, inputs.named.ended)) return *error;
  if (view.threads.size() >= inputs.settings->threads_max)
    return refuse(Code::limit_exceeded,
                  fmt::format("the session has reached the limit of {} threads",
                              inputs.settings->threads_max));
  const ThreadId fresh =
      command.new_thread_id ? *command.new_thread_id : inputs.ids.next<ThreadId>();
  ThreadStarted started = started_of(*source, *inputs.named.ended, false);
  const ForkPoint from = *started.forked_from;
  if (command.new_thread_id) started.params_hash = inputs.params_hash;
  Facts facts{view, inputs};
  facts.add(facts.of(fresh), std::move(started));
  return accept(facts,
                ForkThreadReply{
                    .session_id = view.id, .thread_id = fresh, .forked_from = from, .sequence = 0});
}

}  // namespace agentrt::control
