// control/turn_facts.h: sequences of facts that several decisions share: how a turn starts and
// ends, and how its thread continues with the next one.
#pragma once

#include <string>
#include <vector>

#include "control/decisions.h"

namespace agentrt::control {

// How many facts of a submit follow its turn.submitted, if it started or was queued.
inline constexpr Sequence kFactsAfterAccepted = 4;
inline constexpr Sequence kFactsAfterQueued = 1;

// The facts of one decision, all caused by one command or report.
class Facts {
 public:
  Facts(const Session& view, const Inputs& inputs) : view_(view), inputs_(inputs) {}

  template <class P>
  void add(typename P::Scope scope, P payload) {
    scope.set_request(inputs_.request);
    list_.emplace_back(scope, std::move(payload));
  }

  schema::TurnScope of(const schema::TurnIds& turn) const { return {inputs_.session, turn}; }
  schema::ThreadScope of(const ThreadId& thread) const { return {inputs_.session, thread}; }
  schema::SessionScope of_session() const { return schema::SessionScope{inputs_.session}; }

  // The sequence that the last added fact will get.
  Sequence last() const { return view_.sequence + list_.size(); }
  bool empty() const { return list_.empty(); }
  // The duration of the turn since it started, without its time in the queue.
  std::int64_t ran_ms(const Turn& turn) const;
  // The duration of the call since its tool.started, by the wall clock. The second form returns
  // `measured` if the call was started in this boot.
  std::int64_t ran_ms(const state::ToolCall& call) const;
  std::int64_t ran_ms(const state::ToolCall& call, std::int64_t measured) const;
  // Since that fact; absent: there was none.
  std::optional<std::int64_t> since(const std::optional<Timestamp>& stamp) const;
  const std::vector<schema::Draft>& list() const { return list_; }
  std::vector<schema::Draft> take() { return std::move(list_); }

  // --- sequences of facts ---

  // task.started, task.attempt.started, turn.started, run.status: kFactsAfterAccepted of them.
  void start(const schema::TurnIds& turn, std::int64_t queued_ms = 0);
  // What the end of an attempt means for its task: it completes, or lacks something.
  void task_completes(const schema::TaskScope& task);
  // It fails, is retried by its policy, or was to be cancelled anyway.
  void task_fails(const schema::TaskScope& task, const schema::Failure& error,
                  schema::TaskStatus end = schema::TaskStatus::failed);
  // It is cancelled, or waits for its children.
  void task_cancels(const schema::TaskScope& task, const std::string& reason);
  // Removes the first turn that may start from the queue, if any, and starts it.
  void start_next(const Thread& thread);
  // Ends a running or queued turn: open request and items, attempt, turn, task. The turn of a job's
  // item ends the attempt at the item instead of an attempt at a task.
  void cancel(const Turn& turn, const std::string& reason);
  // Ends a running turn whose attempt has reached its time limit. `end` of its task: timed_out, or
  // retrying if its policy retries it.
  void time_out(const Turn& turn, const std::string& reason, bool whole_task);
  void fail(const Turn& turn, schema::Failure error);
  void complete(const Turn& turn, schema::StopReason reason, const schema::Usage& usage);
  // Closes what the model had started: the open request (as failed) and its items, also those of
  // calls that it was still writing.
  // Ends the turn of an item because its job ends. The item is not retried.
  void stop_item(const Turn& turn, const schema::Failure& error);
  // Closes what the model had started: the open request (as failed) and its items.
  void close_request(const Turn& turn, schema::Category category, const std::string& message);
  void close_items(const Turn& turn, schema::Status status, const schema::Failure& error);
  // Blocks the thread until resume_thread.
  void block(const Turn& turn, const std::string& reason, const std::string& title,
             const std::string& detail);
  // Holds the turn of a paused task between two steps, until resume_task.
  void hold_paused(const Turn& turn);
  // The decision that the turn waited for was made or withdrawn. A paused task stays paused. The
  // task of an item does not wait when the item does.
  void decided(const Turn& turn, const std::string& reason);
  // Records the intent to cancel a task, and ends what it has in progress: its turn and background
  // processes. An external worker is asked to stop. Ends the task if nothing of it is left open.
  // REQUIRES: the task has not ended and is not cancelling.
  void request_cancel(const state::Task& task, const std::string& reason, bool propagate);
  // Resumes the thread's turn in this boot.
  void resume(const Turn& turn);
  void request_model(const Turn& turn, FreshIds& ids, const std::string& provider,
                     const std::string& model, const std::string& model_name);

 private:
  bool held(const Turn& turn) const;
  void end_compaction(const Turn& turn, const schema::Failure& error);
  std::uint64_t children_left(const state::Task& task) const;
  void end_attempt(const Turn& turn, schema::Status status, const schema::Failure& error);
  void fail_item(const Turn& turn, schema::Status status, const schema::Failure& error,
                 std::optional<Timestamp> retry_at);

  const Session& view_;
  const Inputs& inputs_;
  std::vector<schema::Draft> list_;
  std::vector<TaskId> cancelling_;  // by this decision
};

// The trace of a turn that a client submits: the caller's, or a new one.
TraceId trace_of(const Inputs& inputs, FreshIds& ids);
// Names the caller's span in the turn's submission.
void name_caller(schema::TurnSubmitted& submitted, const std::optional<TraceContext>& trace);

// Accepts these facts, with a reply whose `sequence` is that of the last fact.
template <class R>
Decided accept(Facts& facts, R reply) {
  reply.sequence = facts.last();
  return Accepted{facts.take(), schema::to_json(reply)};
}
inline Decided accept(Facts& facts) {
  if (facts.empty()) return Unchanged{};
  return Accepted{facts.take(), {}};
}

inline Decided refuse(Code code, std::string message, std::string details = {}) {
  return Error{code, std::move(message), std::move(details)};
}

// The ids of a turn that the runtime submits, with a task of its own.
schema::TurnIds fresh_turn(const ThreadId& thread, Inputs& inputs);

// The thread on which this turn is active; null: none, so a late report changes nothing.
const Thread* thread_of_active(const Session& view, const TurnId& turn);
// The same, found by the request that the turn waits for.
const Thread* thread_of_request(const Session& view, const ModelRequestId& request);

}  // namespace agentrt::control
