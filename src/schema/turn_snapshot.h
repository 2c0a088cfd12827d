// schema/turn_snapshot.h: a turn as clients get it, and as its index row stores it.
#pragma once

#include "schema/values.h"

namespace agentrt::schema {

// A turn as listed in histories and windows.
struct TurnSnapshot {
  TurnId turn_id;
  ThreadId thread_id;
  TaskId task_id;
  RunId run_id;
  AttemptId attempt_id;
  TraceId trace_id;
  Status status = Status::accepted;
  std::optional<std::string> reason;
  std::optional<bool> resumable;
  std::string input_preview;
  std::string input_ref;  // log:N, its turn.submitted
  std::optional<std::string> output_preview;
  std::optional<std::string> output_ref;  // log:N, its model.completed
  std::optional<std::string> provider;
  std::optional<std::string> model;
  std::uint64_t model_requests = 0;
  std::optional<Usage> usage;
  std::optional<Failure> error;
  Timestamp submitted_at;
  std::optional<Timestamp> started_at;
  std::optional<Timestamp> completed_at;
  Sequence first_sequence = 0;
  std::optional<std::string> source = {};      // user, job, subagent, system
  std::optional<Sequence> last_sequence = {};  // of the fact that ended it
  // A rollback removed it from the conversation; added when the turn is read.
  std::optional<bool> removed = {};

  bool operator==(const TurnSnapshot&) const = default;
};
BOOST_DESCRIBE_STRUCT(TurnSnapshot, (),
                      (turn_id, thread_id, task_id, run_id, attempt_id, trace_id, status, reason,
                       resumable, input_preview, input_ref, output_preview, output_ref, provider,
                       model, model_requests, usage, error, submitted_at, started_at, completed_at,
                       first_sequence, source, last_sequence, removed))

}  // namespace agentrt::schema
