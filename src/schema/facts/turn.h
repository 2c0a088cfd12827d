// schema/facts/turn.h: the lifecycle of a turn, its thread's queue, and the status line.
#pragma once

#include "schema/rollback.h"
#include "schema/scope.h"
#include "schema/values.h"

namespace agentrt::schema {

struct TurnSubmitted {
  static constexpr std::string_view kType = "turn.submitted";
  using Scope = TurnScope;
  Status status = Status::accepted;  // accepted or queued
  std::vector<InputPart> input;
  std::string source;  // user, job, subagent, system
  TurnOptions options;
  std::optional<Json> metadata;
  std::optional<std::uint64_t> position;   // in the queue, from 1
  std::optional<std::string> params_hash;  // of the submit that chose the id
  std::optional<std::string> input_ref;    // of an item: the output that contains its input
  // Of a turn that does something else than ask a model about its input: compaction, restore.
  std::optional<std::string> work = {};
  std::optional<std::string> instructions = {};  // for that work
  std::optional<RestoreRange> restore = {};      // the range whose file changes it undoes
  // The caller's span, from its traceparent, or that of the call that started the turn; and whether
  // the caller records its trace. Absent: the turn begins its trace.
  std::optional<SpanId> parent_span_id = {};
  std::optional<bool> trace_sampled = {};

  bool operator==(const TurnSubmitted&) const = default;
};
BOOST_DESCRIBE_STRUCT(TurnSubmitted, (),
                      (status, input, source, options, metadata, position, params_hash, input_ref,
                       work, instructions, restore, parent_span_id, trace_sampled))

struct TurnStarted {
  static constexpr std::string_view kType = "turn.started";
  using Scope = TurnScope;
  Status status = Status::running;
  BootId boot_id;                              // the runtime that started it
  std::optional<std::int64_t> queued_ms = {};  // since it was submitted

  bool operator==(const TurnStarted&) const = default;
};
BOOST_DESCRIBE_STRUCT(TurnStarted, (), (status, boot_id, queued_ms))

struct TurnCompleted {
  static constexpr std::string_view kType = "turn.completed";
  using Scope = TurnScope;
  Status status = Status::completed;
  StopReason stop_reason = StopReason::end_turn;
  Usage usage;
  std::int64_t duration_ms = 0;  // since it started

  bool operator==(const TurnCompleted&) const = default;
};
BOOST_DESCRIBE_STRUCT(TurnCompleted, (), (status, stop_reason, usage, duration_ms))

struct TurnFailed {
  static constexpr std::string_view kType = "turn.failed";
  using Scope = TurnScope;
  Status status = Status::failed;  // failed, cancelled or timed_out
  std::string reason;
  std::optional<Failure> error;
  std::int64_t duration_ms = 0;

  bool operator==(const TurnFailed&) const = default;
};
BOOST_DESCRIBE_STRUCT(TurnFailed, (), (status, reason, error, duration_ms))

// One change of a thread's queue. The read model of the thread has the complete order.
struct QueueChanged {
  static constexpr std::string_view kType = "queue.changed";
  using Scope = ThreadScope;
  QueueChange change = QueueChange::added;
  TurnId turn_id;
  std::uint64_t position = 0;  // of the turn after the change, from 1; 0: it left the queue
  std::uint64_t count = 0;     // queued turns after the change

  bool operator==(const QueueChanged&) const = default;
};
BOOST_DESCRIBE_STRUCT(QueueChanged, (), (change, turn_id, position, count))

struct RunStatus {
  static constexpr std::string_view kType = "run.status";
  using Scope = TurnScope;
  Status status = Status::preparing;
  std::string phase;
  std::string title;
  std::optional<std::string> detail;
  std::optional<bool> resumable;

  bool operator==(const RunStatus&) const = default;
};
BOOST_DESCRIBE_STRUCT(RunStatus, (), (status, phase, title, detail, resumable))

}  // namespace agentrt::schema
