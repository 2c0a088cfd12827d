// kernel/models/queue_snapshot.cc: the turns that wait in the queues of a session's threads, and
// whether these threads can be resumed.
#include "kernel/models/models.h"

namespace agentrt::kernel::models {

using namespace schema;

namespace {

struct QueuedTurn {
  ThreadId thread_id;
  TurnId turn_id;
  TaskId task_id;
  std::uint64_t position = 0;  // in the queue of its thread, from 1
  std::string source;
  QueuePolicy policy = QueuePolicy::enqueue;
  std::optional<std::string> model;
  std::optional<PermissionMode> mode;
  std::optional<SandboxMode> sandbox;
  std::string input_preview;
  Timestamp submitted_at;
};
BOOST_DESCRIBE_STRUCT(QueuedTurn, (),
                      (thread_id, turn_id, task_id, position, source, policy, model, mode, sandbox,
                       input_preview, submitted_at))

// A thread with a running turn: what its queue waits for.
struct BusyThread {
  ThreadId thread_id;
  Status status = Status::idle;
  std::optional<std::string> status_reason;
  std::optional<TurnId> active_turn_id;
  std::optional<bool> resumable;
  std::optional<std::string> resume_token;
  std::uint64_t queued = 0;
};
BOOST_DESCRIBE_STRUCT(BusyThread, (),
                      (thread_id, status, status_reason, active_turn_id, resumable, resume_token,
                       queued))

struct Model {
  SessionId session_id;
  std::vector<BusyThread> threads;
  std::uint64_t thread_count = 0;
  std::vector<QueuedTurn> queued_turns;  // by thread, in the order in which they will run
  std::uint64_t queued_count = 0;
};
BOOST_DESCRIBE_STRUCT(Model, (), (session_id, threads, thread_count, queued_turns, queued_count))

BusyThread busy(const state::Thread& thread) {
  BusyThread out;
  out.thread_id = thread.id;
  out.status = thread.status;
  out.status_reason = thread.reason;
  out.resumable = thread.resumable;
  if (thread.active) out.active_turn_id = thread.active->ids.turn;
  if (thread.active && thread.resumable.value_or(false))
    out.resume_token = thread.active->ids.turn.text();
  out.queued = thread.queue.size();
  return out;
}

QueuedTurn queued(const state::Turn& turn, std::uint64_t position) {
  return {.thread_id = turn.ids.thread,
          .turn_id = turn.ids.turn,
          .task_id = turn.ids.task,
          .position = position,
          .source = turn.source,
          .policy = turn.options.queue_policy.value_or(QueuePolicy::enqueue),
          .model = turn.options.model,
          .mode = turn.options.mode,
          .sandbox = turn.options.sandbox,
          .input_preview = turn.preview,
          .submitted_at = turn.submitted_at};
}

}  // namespace

Result<std::string> queue_snapshot(const Source& source) {
  Model out;
  out.session_id = source.view.id;
  const std::size_t most = source.limits.model_entries_max;
  for (const auto& [id, thread] : source.view.threads) {
    if (!includes(source, id) || (!thread.active && thread.queue.empty())) continue;
    ++out.thread_count;
    if (out.threads.size() < most) out.threads.push_back(busy(thread));
    out.queued_count += thread.queue.size();
    for (std::size_t i = 0; i < thread.queue.size() && out.queued_turns.size() < most; ++i)
      out.queued_turns.push_back(queued(thread.queue[i], i + 1));
  }
  return finished(out, source);
}

}  // namespace agentrt::kernel::models
