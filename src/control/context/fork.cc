// control/context/fork.cc: decides how a thread is forked: a new thread begins with the
// conversation of another one, up to the end of one of its turns.
//
// Only the point in the log is recorded. The conversation is read from the facts of both threads.
#include <fmt/format.h>

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

Error missing(const Session& view, std::string_view what) {
  return {Code::not_found,
          fmt::format("{}; agentrt show {} lists the threads and turns of the session", what,
                      view.id.text()),
          {}};
}

Error not_ended(const Turn& turn) {
  return {Code::conflict,
          fmt::format("turn {} has not ended, its status is {}: wait for its end, or interrupt it",
                      turn.ids.turn.text(), name_of(turn.status)),
          fmt::format(R"({{"status":"{}","turnId":{}}})", name_of(turn.status),
                      to_json(turn.ids.turn))};
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

std::optional<Error> no_room(const Session& view, const Thread& source, const Settings& settings) {
  if (view.threads.size() >= settings.threads_max)
    return Error{
        Code::limit_exceeded,
        fmt::format("the session has reached the limit of {} threads", settings.threads_max),
        {}};
  if (source.fork && source.fork->parts.size() >= kForkDepthMax)
    return Error{Code::limit_exceeded,
                 fmt::format("a chain of forks has at most {} members", kForkDepthMax),
                 {}};
  return std::nullopt;
}

}  // namespace

Decided fork_thread(const Session& view, const ForkThread& command, Inputs inputs) {
  if (!view.exists())
    return refuse(Code::not_found,
                  fmt::format("there is no session {}", command.session_id.text()));
  if (auto error = thread_of_job(view, command.thread_id)) return *error;
  if (command.new_thread_id) {
    if (const Thread* existing = find_thread(view, *command.new_thread_id))
      return repeated(view, *existing, inputs);
    if (inputs.named.thread_closed)
      return refuse(Code::conflict,
                    fmt::format("thread {} is closed", command.new_thread_id->text()),
                    R"({"status":"closed"})");
  }
  const Thread* source = find_thread(view, command.thread_id);
  if (!source)
    return missing(view, fmt::format("there is no open thread {}", command.thread_id.text()));
  auto turn = last_inherited(*source, command);
  if (!turn) return std::move(turn).error();
  const auto& known = inputs.named.ended;
  if (!known || known->thread != command.thread_id || known->end == 0)
    return missing(view,
                   fmt::format("thread {} has no turn {}", command.thread_id.text(), turn->text()));
  if (auto error = no_room(view, *source, *inputs.settings)) return *error;
  const ForkPoint from{.session_id = view.id,
                       .thread_id = command.thread_id,
                       .turn_id = *turn,
                       .sequence = known->end,
                       .hash = known->hash};
  const ThreadId fresh =
      command.new_thread_id ? *command.new_thread_id : inputs.ids.next<ThreadId>();
  ThreadStarted started{.forked_from = from};
  if (command.new_thread_id) started.params_hash = inputs.params_hash;
  Facts facts{view, inputs};
  facts.add(facts.of(fresh), std::move(started));
  return accept(facts,
                ForkThreadReply{
                    .session_id = view.id, .thread_id = fresh, .forked_from = from, .sequence = 0});
}

}  // namespace agentrt::control
