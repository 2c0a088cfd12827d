// schema/reports.h: outcomes of effects, on their way back to the one write boundary.
//
// A report is a command with an internal origin: the engine sends it, the same lane takes it, the
// same decision function turns it into facts. It never comes from a wire, so it has no codec.
#pragma once

#include "base/sum.h"
#include "schema/binding.h"
#include "schema/facts.h"
#include "schema/hooks.h"
#include "schema/outputs.h"

namespace agentrt::schema {

// The session was loaded by a runtime of another boot than the one that left work open in it.
struct ReportRestarted {};

// What a turn will be asked with: everything that stands between turn.started and model.requested.
struct ReportPrepared {
  TurnId turn;
  ContextResolved context;
  std::optional<HistoryWindowLoaded> history;
  std::vector<Candidate> candidates;
  std::vector<ExcludedCandidate> excluded;
  std::string default_model;  // names in the configuration
  std::vector<std::string> fallback;
  Policy policy;                          // that the session is under from here on
  std::optional<Failure> policy_failed;   // it could not be put together: nothing may run
  std::vector<CatalogTool> server_tools;  // beside the runtime's own
  std::vector<MissingServer> missing_servers;
};

// What a call would be bound to if a person allowed it; or why it cannot be made.
struct ReportInspected {
  TurnId turn;
  ToolCallId call;
  Binding binding;
  std::optional<Failure> failure;
};

// A hook has run.
struct ReportHookEnded {
  TurnId turn;
  std::string run;
  HookOutcome outcome;
};

// Nobody answered in time.
struct ReportActionExpired {
  ActionId action;
};

// Text the model sent since the last such report, in order.
struct ReportFragments {
  ModelRequestId request;
  struct Piece {
    bool reasoning = false;
    std::string text;
  };
  std::vector<Piece> pieces;
};

// A call that the model asked for, as it came.
struct AskedCall {
  std::string name;
  Json args;
  bool args_omitted = false;  // they were more than is kept
  // Why it is not made: by the schema that the model was given, or a limit of the answer.
  std::optional<std::string> wrong = {};
};

// What went over the wire of one request, kept.
struct KeptExchange {
  KeptOutput request;
  KeptOutput response;
};

struct ReportModelCompleted {
  ModelRequestId request;
  std::vector<AskedCall> calls;
  StopReason stop_reason = StopReason::end_turn;
  Usage usage;
  std::vector<ReportFragments::Piece> pieces;  // what had not been reported yet
  // The whole text where it is at most kTextInlineMax bytes, else its beginning.
  std::string text;
  std::uint64_t text_bytes = 0;
  std::string reasoning;
  std::uint64_t reasoning_bytes = 0;
  std::optional<Json> provider_state;  // at most kTextInlineMax bytes
  std::optional<KeptExchange> raw;
};

struct ReportModelFailed {
  ModelRequestId request;
  std::vector<ReportFragments::Piece> pieces;
  Failure error;
  std::optional<std::uint64_t> provider_status;
  bool ended_by_provider = false;
  std::optional<std::int64_t> retry_after_ms;  // the provider's wish
  std::optional<KeptExchange> raw;
};

// The instant that model.failed named for asking again has come.
struct ReportRetryDue {
  TurnId turn;
};

// A process is confined and waits to be let go, which it is once this is stored.
struct ReportProcessReady {
  TurnId turn;
  ToolCallId call;
  ProcessId process;
  SandboxApplied sandbox;
  ProcessStarted started;
  std::optional<Binding> binding;  // where the call was approved by digest: the world as it is now
};

// What a process wrote and tried since the last such report.
struct ReportProcessNews {
  TurnId turn;
  ToolCallId call;
  ProcessId process;
  std::vector<ProcessOutput> output;
  std::vector<SandboxViolation> violations;
};

// Something about a process in the background that its own facts do not say.
struct ReportProcessNotice {
  enum class What {
    found,          // after a restart, and followed again
    input_refused,  // it reads none, or too much waits for it already
  };
  ProcessId process;
  What what = What::found;
};

// What a process wrote and was not kept: there was no room for it, or its spool was lost.
struct LostOutput {
  std::string stream;      // stdout, stderr
  std::uint64_t size = 0;  // bytes that were written; at least, where `exact` is false
  bool exact = true;
  std::uint64_t kept = 0;  // of them
  std::string why;
};

// A tool call is over, and what is known about its process; or a process in the background is.
struct ReportToolEnded {
  TurnId turn;
  ToolCallId call;
  ProcessId process;
  ReportProcessNews news;  // what had not been reported yet
  std::optional<std::int64_t> exit_code;
  std::optional<std::int64_t> signal;
  std::optional<Failure> failure;  // it did not end by itself, or never ran
  bool never_ran = false;          // that is certain
  std::string preview;
  std::vector<KeptOutput> outputs;
  std::vector<LostOutput> lost;
  std::int64_t duration_ms = 0;
};

// A call is about to change a file, which it does once this is stored. The diff is kept.
struct ReportFileChange {
  TurnId turn;
  ToolCallId call;
  FileChange change;
  KeptOutput diff;
  std::optional<Binding> binding;  // where the call was approved by digest: the world as it is now
};

// How far a call is, in words.
struct ReportToolProgress {
  TurnId turn;
  ToolCallId call;
  std::string text;
};

// A server asks a person, before it goes on with the call.
struct ReportToolAsks {
  TurnId turn;
  ToolCallId call;
  std::string server;
  std::string prompt;
  Json schema;
  std::optional<std::string> url;
};

// A call that ran no process is over.
struct ReportCallEnded {
  TurnId turn;
  ToolCallId call;
  std::optional<Failure> failure;  // it gave no result
  bool is_error = false;
  std::string text;
  std::vector<KeptOutput> outputs;  // the first is the whole of what `text` begins
  std::optional<KeptOutput> structured;
  std::int64_t duration_ms = 0;
};

// Bytes that a client sent are stored behind a ref.
struct ReportUploaded {
  KeptOutput output;
  std::optional<Sequence> spilled;  // the same ref is kept already, since this fact
};

// Retention has chosen this output: its bytes go as soon as this is stored.
struct ReportOutputDue {
  std::string output_ref;
  std::string reason;  // age, room
  std::uint64_t size = 0;
  std::string digest;
  Sequence spilled = 0;
};

using ReportTypes =
    TypeList<ReportRestarted, ReportPrepared, ReportFragments, ReportModelCompleted,
             ReportModelFailed, ReportRetryDue, ReportInspected, ReportHookEnded,
             ReportActionExpired, ReportProcessReady, ReportProcessNews, ReportProcessNotice,
             ReportToolEnded, ReportFileChange, ReportToolProgress, ReportToolAsks, ReportCallEnded,
             ReportUploaded, ReportOutputDue>;
using Report = Sum<ReportTypes>;

// Text longer than this stands in a closing fact as a preview and a ref to its deltas.
inline constexpr std::size_t kTextInlineMax = 64 * 1024;
inline constexpr std::size_t kPreviewBytes = 2 * 1024;

}  // namespace agentrt::schema
