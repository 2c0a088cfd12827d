// engine/plan.h: computes the effects that a session needs, as a pure function of its view.
//
// The log is the program counter: the engine keeps no progress of its own. plan() lists every
// effect that the view calls for and that has not ended. Called again, it lists the same effects
// with the same keys. So a turn that was interrupted by a crash, a pause or a question continues
// through this function, and recovery needs no separate code path.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "state/session.h"

namespace agentrt::engine {

// Gather the context of a turn: instructions, history and available models.
struct Prepare {
  schema::TurnIds turn;
  std::optional<std::string> model;
  std::optional<schema::SandboxMode> sandbox;
};
// Send the model request; its intent is stored.
struct Ask {
  schema::TurnIds turn;
  ModelRequestId request;
  std::string model_name;
  std::uint64_t ended_by_provider = 0;
  bool summary = false;  // it asks for a summary of older turns
};
// Send the request again at this time.
struct AwaitRetry {
  TurnId turn;
  Timestamp at;
};

// Run a hook; its start is stored.
struct RunHook {
  schema::TurnIds turn;
  std::string run;
};
// Find out what an approval of the call would be bound to, so that the user can be asked.
struct Inspect {
  TurnId turn;
  ToolCallId call;
};
// The question of this action expires at this time.
struct AwaitAnswer {
  ActionId action;
  Timestamp at;
  std::int64_t within_ms = 0;  // longest wait, even if the wall clock was set back
};
// Run the call's process in the sandbox and follow it to its end.
struct RunProcess {
  TurnId turn;
  ToolCallId call;
  bool stored = false;  // the log has stored that the process runs: release it
};
// Make a call that runs no process and follow it to its end.
struct CallTool {
  TurnId turn;
  ToolCallId call;
  bool stored = false;                        // the log has stored the change that it announced
  bool may_ask = false;                       // no question of the turn is open
  std::optional<state::ServerAnswer> answer;  // to its MCP server's last question
};
// Report when the time limit of a wait for subagents has passed. Their end ends the call itself.
struct AwaitSubagents {
  TurnId turn;
  ToolCallId call;
  std::int64_t timeout_ms = 0;  // from the start of the effect: a resumed turn waits anew
};
// Find the outcome of a process that another boot released.
struct FindProcess {
  TurnId turn;
  ToolCallId call;
  ProcessId process;
};
// Follow a background process, and end it when requested.
struct FollowProcess {
  TurnId turn;
  ToolCallId call;
  ProcessId process;
  bool tty = false;
  std::uint64_t out_shown = 0;  // bytes of each stream that the log already contains
  std::uint64_t err_shown = 0;
  Timestamp started_at;
  std::optional<std::uint64_t> timeout_ms;
  bool ending = false;
};

// Read the next items of a job and start them when there is room.
struct FeedJob {
  JobId job;
  std::string input_ref;
  schema::JobCursor after;
  std::uint64_t room = 0;  // items that may start now
  bool more = false;       // lines follow the cursor
  bool redo = false;       // failed items of an earlier attempt are to be retried
  Sequence redo_before = 0;
  std::optional<Timestamp> due;  // of the next item that waits for another attempt
};
// Compare the answer of an item with the schema of its job.
struct JudgeItem {
  schema::TurnIds turn;
  schema::Json schema;
};
// The job may run for this long.
struct AwaitJob {
  JobId job;
  Timestamp since;
  std::int64_t within_ms = 0;
};

// Plan a compaction of the turn's conversation, or complete one whose summary is written.
struct Compact {
  schema::TurnIds turn;
};

// Find the next files that the turn restores, and the policy for them.
struct RestoreFiles {
  schema::TurnIds turn;
  schema::RestoreRange range;
  std::uint64_t next = 0;  // files before these
};

struct Effect {
  std::string key;  // identifies the effect; the same in every plan
  std::variant<Prepare, Ask, AwaitRetry, RunHook, Inspect, AwaitAnswer, RunProcess, CallTool,
               FindProcess, FollowProcess, FeedJob, JudgeItem, AwaitJob, AwaitSubagents, Compact,
               RestoreFiles>
      what;
};

// Work of another boot is not planned, except its processes: the kernel closes it first.
std::vector<Effect> plan(const state::Session& view, const BootId& boot);
// Whether the session needs the process that owns the data folder: an effect is planned (work, a
// retry or a deadline at a known time, a background process), or a turn waits for a person's
// answer. A turn that only a command can continue does not count. `planned`: plan() of the view.
bool needs_owner(const state::Session& view, const std::vector<Effect>& planned);
// Effects that are safe to start speculatively while the commit is in flight, because they change
// nothing before stored() is called. Preparing a new turn and assembling a request only read; a
// command waits at its start gate until the log says that it runs. A turn that existed before is
// not prepared in advance: the answer that resumes it may change what it would read. `stored`: the
// last stored sequence of the view.
std::vector<Effect> plan_ahead(const state::Session& view, const BootId& boot, Sequence stored);

}  // namespace agentrt::engine
