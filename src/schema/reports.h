// schema/reports.h: reports carry the outcomes of effects back to the log.
//
// A report is like a command with an internal origin: the engine sends it, it takes the session's
// lane, and the decision function turns it into facts. It is never sent over a wire, so it has no
// codec.
#pragma once

#include "base/sum.h"
#include "schema/binding.h"
#include "schema/facts.h"
#include "schema/hooks.h"
#include "schema/model_reports.h"
#include "schema/outputs.h"

namespace agentrt::schema {

// The session was loaded, and a runtime of an earlier boot had left work open in it.
struct ReportRestarted {};

// The input of a turn's model request: the facts from turn.started to model.requested.
struct ReportPrepared {
  TurnId turn;
  ContextResolved context;
  std::optional<ExecutionEnvironment> environment = {};
  std::vector<KeptOutput> files = {};  // the stored copies of the files of its input
  // Bytes of the turn's first request, as the estimate counts them, without the tools: all of it,
  // and of that what earlier requests of the thread did not have.
  std::size_t request_bytes = 0;
  std::size_t new_bytes = 0;
  std::optional<HistoryWindowLoaded> history;
  std::vector<Candidate> candidates;
  std::vector<ExcludedCandidate> excluded;
  std::string default_model;  // a name in the configuration
  std::vector<std::string> fallback;
  Policy policy;                          // applies to the session from now on
  std::optional<Failure> policy_failed;   // the policy is invalid: nothing may run
  std::vector<CatalogTool> server_tools;  // in addition to the built-in tools
  std::vector<MissingServer> missing_servers;
};

// The state that an approval of the call would be bound to, or why the call cannot be made.
struct ReportInspected {
  TurnId turn;
  ToolCallId call;
  Binding binding;
  std::optional<Failure> failure;
  std::vector<std::string> absent = {};  // files that it would overwrite, and that do not exist
};

// A hook has ended.
struct ReportHookEnded {
  TurnId turn;
  std::string run;
  HookOutcome outcome;
};

// An action was not answered in time.
struct ReportActionExpired {
  ActionId action;
};

// The tools of MCP servers have changed since the turn was prepared: a server that was still
// starting is ready, or has failed.
struct ReportToolsListed {
  TurnId turn;
  std::vector<CatalogTool> server_tools;
  std::vector<MissingServer> missing_servers;
};

// The retry time of a failed model request has come.
struct ReportRetryDue {
  TurnId turn;
};

// A process waits at its gate in its sandbox. It is released once this is stored.
struct ReportProcessReady {
  TurnId turn;
  ToolCallId call;
  ProcessId process;
  SandboxApplied sandbox;
  ProcessStarted started;
  std::optional<Binding> binding;  // if approved by digest: the current state, to compare
};

// Output and violations of a process since the last such report.
struct ReportProcessNews {
  TurnId turn;
  ToolCallId call;
  ProcessId process;
  std::vector<ProcessOutput> output;
  std::vector<SandboxViolation> violations;
};

// An event of a background process that has no fact type of its own.
struct ReportProcessNotice {
  enum class What {
    found,          // found again after a restart, and followed
    input_refused,  // it does not read input, or too much is queued
  };
  ProcessId process;
  What what = What::found;
};

// Output that was not stored: the disk was full, or the spool was lost.
struct LostOutput {
  std::string stream;      // stdout, stderr
  std::uint64_t size = 0;  // bytes written; a lower bound if not `exact`
  bool exact = true;
  std::uint64_t kept = 0;  // of these, bytes stored
  std::string why;
};

// A tool call with a process has ended; or a background process has.
struct ReportProcessEnded {
  TurnId turn;
  ToolCallId call;
  ProcessId process;
  ReportProcessNews news;  // not reported yet
  std::optional<std::int64_t> exit_code;
  std::optional<std::int64_t> signal;
  std::optional<Failure> failure;  // it did not end by itself, or never ran
  bool never_ran = false;          // certainly never released
  std::string preview;
  std::vector<KeptOutput> outputs;
  std::vector<LostOutput> lost;
  std::int64_t duration_ms = 0;
};

// A call is about to change a file, and does so once this is stored. The diff is already stored.
struct ReportFileChange {
  TurnId turn;
  ToolCallId call;
  FileChange change;
  KeptOutput diff;
  std::optional<Binding> binding;           // if approved by digest: the current state, to compare
  std::optional<KeptOutput> previous = {};  // see FileChange::previous_ref
};

// Progress of a call, as a text.
struct ReportToolProgress {
  TurnId turn;
  ToolCallId call;
  std::string text;
};

// Something about a call that a person should know, for runtime.warning.
struct ReportToolWarning {
  TurnId turn;
  ToolCallId call;
  std::string code;
  std::string message;
};

// An MCP server asks the user a question before it continues the call.
struct ReportToolAsks {
  TurnId turn;
  ToolCallId call;
  std::string server;
  std::string prompt;
  Json schema;
  std::optional<std::string> url;
};

// A call without a process has ended.
struct ReportCallEnded {
  TurnId turn;
  ToolCallId call;
  std::optional<Failure> failure;  // no result
  bool is_error = false;
  std::string text;
  std::vector<KeptOutput> outputs;  // the first one holds the complete text
  std::optional<KeptOutput> structured;
  std::int64_t duration_ms = 0;
};

// A client's upload is stored behind a ref.
struct ReportUploaded {
  KeptOutput output;
  // Sequence of the output.spilled fact, if the ref was already stored.
  std::optional<Sequence> spilled;
};

// Retention selected this output. Its bytes are removed once this is stored.
struct ReportOutputDue {
  std::string output_ref;
  std::string reason;  // age, room
  std::uint64_t size = 0;
  std::string digest;
  Sequence spilled = 0;
};

// The earliest time limit of a task has passed: a retry, a timeout, a deadline or the grace period
// of a cancellation.
struct ReportTaskDue {
  TaskId task;
};

// The external worker of an attempt has not reported for the task's heartbeat interval.
struct ReportTaskSilent {
  TaskId task;
  RunId run;
};

// A task has consequences for other tasks that are not recorded yet: dependants to unblock,
// children to cancel, or its own end after its children have ended. One report records one page of
// them.
struct ReportTaskContinues {
  TaskId task;
};

// The next items of a job's input, and the policy files as they are now.
struct ReportJobItems {
  JobId job;
  std::vector<JobLine> lines;    // that follow the job's cursor; may be empty
  std::optional<Policy> policy;  // that the items are under from now on
  // Failed items of earlier attempts that the job has to retry.
  std::vector<JobItemRecord> failed = {};
  bool failed_ended = false;            // there are no more of them
  std::optional<Failure> failure = {};  // the input or the policy cannot be read: the job fails
};

// The answer of an item was compared with the schema of its job.
struct ReportItemJudged {
  TurnId turn;
  std::optional<std::string> wrong;  // where it does not match; absent: it matches
};

// A job has run for its maximum time.
struct ReportJobDue {
  JobId job;
};

// The time limit of a call that waits for subagents has passed.
struct ReportWaitDue {
  TurnId turn;
  ToolCallId call;
};

// The next files of a turn that restores files, and the policy files as they are now.
struct ReportRestoreFiles {
  TurnId turn;
  std::uint64_t next = 0;          // files of the turn before these
  std::vector<FileRestore> files;  // empty: there are no more
  std::optional<Policy> policy = {};
  std::optional<Failure> failure = {};  // the log or the policy cannot be read: the turn fails
};

// The connection of a channel has ended. Changes nothing if the channel was connected again since.
struct ReportChannelLost {
  ChannelId channel;
  Sequence since = 0;  // of the channel.connected or channel.resumed that the connection began with
  ChannelEnd reason = ChannelEnd::connection_lost;
  Timestamp last_seen_at;
};

// A channel has been disconnected for longer than it may stay so.
struct ReportChannelDue {
  ChannelId channel;
};

using ReportTypes =
    TypeList<ReportRestarted, ReportPrepared, ReportToolsListed, ReportFragments,
             ReportModelCompleted, ReportModelFailed, ReportRetryDue, ReportInspected,
             ReportHookEnded, ReportActionExpired, ReportProcessReady, ReportProcessNews,
             ReportProcessNotice, ReportProcessEnded, ReportFileChange, ReportToolProgress,
             ReportToolWarning, ReportToolAsks, ReportCallEnded, ReportUploaded, ReportOutputDue,
             ReportTaskDue, ReportTaskSilent, ReportTaskContinues, ReportJobItems, ReportJobDue,
             ReportItemJudged, ReportWaitDue, ReportCompactionPlanned, ReportCompacted,
             ReportRestoreFiles, ReportChannelLost, ReportChannelDue>;
using Report = Sum<ReportTypes>;

}  // namespace agentrt::schema
