// schema/scope.h: the scope of a fact: the correlation ids in its envelope.
//
// Each fact type names the scope that the catalogue requires of it (Payload::Scope). A scope can
// only be constructed from its required ids, and a Draft only from a payload and its scope. A fact
// that lacks a required id therefore does not compile, and an empty required id aborts the process.
//
// A scope with more ids converts to one that requires fewer, and keeps all its ids.
#pragma once

#include "base/check.h"
#include "base/ids.h"
#include "schema/codec.h"

namespace agentrt::schema {

// Every correlation id that an event may carry; an empty id is absent. The envelope writes
// `session` itself and the others in this order.
struct Ids {
  SessionId session;
  ThreadId thread_id;
  TurnId turn_id;
  TaskId task_id;
  RunId run_id;
  AttemptId attempt_id;
  StepId step_id;
  ToolCallId tool_call_id;
  ActionId action_id;
  SubagentId subagent_id;
  ProcessId process_id;
  ChannelId channel_id;
  JobId job_id;
  JobItemId job_item_id;
  ArtifactId artifact_id;
  EvidenceId evidence_id;
  RequestId request_id;
  ModelRequestId model_request_id;
  TraceId trace_id;
  SpanId span_id;

  bool operator==(const Ids&) const = default;
};
BOOST_DESCRIBE_STRUCT(Ids, (),
                      (thread_id, turn_id, task_id, run_id, attempt_id, step_id, tool_call_id,
                       action_id, subagent_id, process_id, channel_id, job_id, job_item_id,
                       artifact_id, evidence_id, request_id, model_request_id, trace_id, span_id))

class SessionScope {
 public:
  explicit SessionScope(SessionId session) {
    check(!session.empty(), "a fact names its session");
    ids_.session = std::move(session);
  }
  const Ids& ids() const { return ids_; }

  // The command that caused the fact, if any.
  void set_request(RequestId request) { ids_.request_id = std::move(request); }

 protected:
  explicit SessionScope(Ids ids) : ids_(std::move(ids)) {}
  Ids ids_;
};

class ThreadScope : public SessionScope {
 public:
  ThreadScope(SessionId session, ThreadId thread) : SessionScope(std::move(session)) {
    check(!thread.empty(), "a fact of a thread names it");
    ids_.thread_id = std::move(thread);
  }

 protected:
  using SessionScope::SessionScope;
};

class TaskScope : public SessionScope {
 public:
  TaskScope(SessionId session, TaskId task) : SessionScope(std::move(session)) {
    check(!task.empty(), "a fact of a task names it");
    ids_.task_id = std::move(task);
  }

 protected:
  friend class TurnScope;
  using SessionScope::SessionScope;
};

// One attempt at a task.
class AttemptScope : public TaskScope {
 public:
  AttemptScope(const TaskScope& task, RunId run, AttemptId attempt) : TaskScope(task) {
    check(!run.empty() && !attempt.empty(), "a fact of an attempt names run and attempt");
    ids_.run_id = std::move(run);
    ids_.attempt_id = std::move(attempt);
  }

 private:
  friend class TurnScope;
  explicit AttemptScope(Ids ids) : TaskScope(std::move(ids)) {}
};

// The kinds of objects whose facts carry a span of their own (span_of).
inline constexpr std::string_view kTurnSpan = "turn";
inline constexpr std::string_view kModelSpan = "model_request";
inline constexpr std::string_view kCallSpan = "tool_call";
inline constexpr std::string_view kProcessSpan = "process";
inline constexpr std::string_view kHookSpan = "hook";
inline constexpr std::string_view kEvidenceSpan = "evidence";

// The ids of a turn, from its submission to its end.
struct TurnIds {
  ThreadId thread;
  TurnId turn;
  TaskId task;
  RunId run;
  AttemptId attempt;
  TraceId trace;
  // Of an item of a job.
  std::optional<JobId> job = {};
  std::optional<JobItemId> job_item = {};

  bool operator==(const TurnIds&) const = default;
};
BOOST_DESCRIBE_STRUCT(TurnIds, (), (thread, turn, task, run, attempt, trace, job, job_item))

// Every turn is an attempt at a task, so a TurnScope converts to TaskScope and AttemptScope.
class TurnScope : public ThreadScope {
 public:
  TurnScope(SessionId session, const TurnIds& turn) : ThreadScope(std::move(session), turn.thread) {
    check(!turn.turn.empty() && !turn.task.empty(), "a fact of a turn names turn and task");
    check(!turn.run.empty() && !turn.attempt.empty(), "a fact of a turn names run and attempt");
    ids_.turn_id = turn.turn;
    ids_.task_id = turn.task;
    ids_.run_id = turn.run;
    ids_.attempt_id = turn.attempt;
    ids_.trace_id = turn.trace;
    ids_.span_id = span_of(ids_.session, kTurnSpan, turn.turn.text());
    if (turn.job) ids_.job_id = *turn.job;
    if (turn.job_item) ids_.job_item_id = *turn.job_item;
  }

  operator TaskScope() const { return TaskScope(ids_); }  // NOLINT(google-explicit-constructor)
  operator AttemptScope() const {
    return AttemptScope(ids_);
  }  // NOLINT(google-explicit-constructor)
};

// One item or step of a turn.
class StepScope : public TurnScope {
 public:
  StepScope(const TurnScope& turn, StepId step) : TurnScope(turn) {
    check(!step.empty(), "a fact of a step names it");
    ids_.step_id = std::move(step);
  }
};

// One tool call, which is a step of its turn.
class ToolScope : public StepScope {
 public:
  ToolScope(const TurnScope& turn, StepId step, ToolCallId call)
      : StepScope(turn, std::move(step)) {
    check(!call.empty(), "a fact of a tool call names it");
    ids_.span_id = span_of(ids_.session, kCallSpan, call.text());
    ids_.tool_call_id = std::move(call);
  }
};

// An artifact that a tool call created or changed.
class ArtifactScope : public ToolScope {
 public:
  ArtifactScope(const ToolScope& call, ArtifactId artifact) : ToolScope(call) {
    check(!artifact.empty(), "a fact of an artifact names it");
    ids_.artifact_id = std::move(artifact);
  }
};

// An action: a decision that a turn, or one of its tool calls, waits for.
class ActionScope : public TurnScope {
 public:
  ActionScope(const TurnScope& held_back, ActionId action) : TurnScope(held_back) {
    check(!action.empty(), "a fact of an action names it");
    ids_.action_id = std::move(action);
  }
};

// One process that a tool call started.
class ProcessScope : public ToolScope {
 public:
  ProcessScope(const ToolScope& call, ProcessId process) : ToolScope(call) {
    check(!process.empty(), "a fact of a process names it");
    ids_.span_id = span_of(ids_.session, kProcessSpan, process.text());
    ids_.process_id = std::move(process);
  }
};

// The ids of a job: it is an attempt at a task.
struct JobIds {
  JobId job;
  TaskId task;
  RunId run;
  AttemptId attempt;

  bool operator==(const JobIds&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobIds, (), (job, task, run, attempt))

// A job, or one of its items.
class JobScope : public SessionScope {
 public:
  JobScope(SessionId session, const JobIds& job, JobItemId item = {})
      : SessionScope(std::move(session)) {
    check(!job.job.empty() && !job.task.empty(), "a fact of a job names job and task");
    check(!job.run.empty() && !job.attempt.empty(), "a fact of a job names run and attempt");
    ids_.task_id = job.task;
    ids_.run_id = job.run;
    ids_.attempt_id = job.attempt;
    ids_.job_id = job.job;
    ids_.job_item_id = std::move(item);
  }

  AttemptScope of_attempt() const {
    return {TaskScope(ids_.session, ids_.task_id), ids_.run_id, ids_.attempt_id};
  }
};

// One attempt at an item of a job, which is a turn.
class JobItemScope : public TurnScope {
 public:
  explicit JobItemScope(const TurnScope& turn) : TurnScope(turn) {
    check(!ids_.job_id.empty() && !ids_.job_item_id.empty(),
          "a fact of an item names the job and the item");
  }
};

// A subagent. Its facts belong to the thread of its parent; given the scope of the parent's turn,
// to that turn as well.
class SubagentScope : public SessionScope {
 public:
  SubagentScope(const ThreadScope& parent, SubagentId subagent) : SessionScope(parent) {
    check(!subagent.empty(), "a fact of a subagent names it");
    ids_.subagent_id = std::move(subagent);
  }
};

// A channel of the session.
class ChannelScope : public SessionScope {
 public:
  ChannelScope(SessionId session, ChannelId channel) : SessionScope(std::move(session)) {
    check(!channel.empty(), "a fact of a channel names it");
    ids_.channel_id = std::move(channel);
  }
};

// An action that is forwarded over a channel.
class ChannelActionScope : public ChannelScope {
 public:
  ChannelActionScope(const ChannelScope& channel, ActionId action) : ChannelScope(channel) {
    check(!action.empty(), "a fact of a forwarded action names it");
    ids_.action_id = std::move(action);
  }
};

// A task of the session that is linked to a task of the channel's peer.
class PeerTaskScope : public ChannelScope {
 public:
  PeerTaskScope(const ChannelScope& channel, TaskId task) : ChannelScope(channel) {
    check(!task.empty(), "a fact of a peer task names the local task");
    ids_.task_id = std::move(task);
  }
};

// One request to a model.
class ModelScope : public TurnScope {
 public:
  ModelScope(const TurnScope& turn, ModelRequestId request) : TurnScope(turn) {
    check(!request.empty(), "a fact of a model request names it");
    ids_.span_id = span_of(ids_.session, kModelSpan, request.text());
    ids_.model_request_id = std::move(request);
  }
};

// One run of a hook, about a turn or about one of its calls.
class HookScope : public TurnScope {
 public:
  HookScope(const TurnScope& about, const std::string& run) : TurnScope(about) {
    ids_.span_id = span_of(ids_.session, kHookSpan, run);
  }
};

}  // namespace agentrt::schema
