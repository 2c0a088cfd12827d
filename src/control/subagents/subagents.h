// control/subagents/subagents.h: delegation to subagents, by commands and by calls of a turn, and
// what the turns of subagents mean for their parents.
#pragma once

#include "control/turn_facts.h"
#include "policy/effective.h"
#include "tools/tool.h"

namespace agentrt::control {

// A subagent to be spawned.
struct NewSubagent {
  std::optional<SubagentId> id = {};  // chosen by the caller; absent: a fresh one
  std::string role;
  std::string prompt;
  std::optional<std::string> nickname = {};
  std::optional<std::string> model = {};
  std::optional<schema::PermissionMode> mode = {};
  std::optional<schema::SandboxMode> sandbox = {};
  std::optional<std::vector<std::string>> tools = {};
  std::optional<std::vector<std::string>> write_roots = {};
  std::optional<std::string> params_hash = {};
  const state::Task* task = nullptr;  // an existing task to delegate; null: a new one
};

// Who delegates: the task that task.delegated belongs to.
enum class Delegator { turn, client };

struct Delegation {
  SubagentId subagent;
  ThreadId thread;
  TaskId task;
  TurnId turn;
};

// Why the subagent may not be spawned; nullopt: it may. Makes its write roots absolute. `threads`:
// the number of threads in the session. `policy`: that the parent is under now.
std::optional<Error> spawn_refusal(const Session& view, std::size_t threads, const Thread& parent,
                                   const policy::Effective& policy, NewSubagent& wanted,
                                   const Settings& settings);
// REQUIRES: spawn_refusal() has no objection.
Delegation spawn(Facts& facts, const Session& view, const Thread& parent, const NewSubagent& wanted,
                 Delegator delegator, FreshIds& ids, const Inputs& inputs);

// The same for further input.
std::optional<Error> input_refusal(const Session& view, const state::Subagent& subagent,
                                   const Settings& settings);
Delegation send_input(Facts& facts, const Session& view, const state::Subagent& subagent,
                      const std::vector<schema::InputPart>& input, Delegator delegator,
                      FreshIds& ids, const Inputs& inputs);
// Delegates the next attempt of an existing task to the subagent. The caller has recorded that the
// task is retried, if it is.
struct Attempt {
  schema::TurnIds turn;
  bool queued = false;
};
Attempt send_task(Facts& facts, const Session& view, const state::Subagent& subagent,
                  const state::Task& task, FreshIds& ids, const Inputs& inputs);

// Cancels the running turn of a subagent's thread and those that wait; adds them to `ended`.
void cancel_turns(Facts& facts, const Thread& thread, const std::string& reason,
                  std::vector<TurnId>& ended);
// The subagents below the thread, children after their own: the order in which they are closed.
void collect_below(const Session& view, const ThreadId& thread,
                   std::vector<const state::Subagent*>& out);
// The threads of all subagents below the thread.
std::vector<ThreadId> threads_below(const Session& view, const ThreadId& thread);
// Cancels the turns of all subagents below the thread; adds the running ones to `ended`.
void end_below(Facts& facts, const Session& view, const ThreadId& thread, const std::string& reason,
               std::vector<TurnId>& ended);
// Lets the open delegations of the turn continue without it: their tasks lose their parent.
void release_below(Facts& facts, const Session& view, const Turn& turn, const std::string& reason,
                   const Inputs& inputs);
// Makes the delegations below that run, and whose tasks have no parent, children of the turn's
// task: its cancellation waits for them.
void adopt_below(Facts& facts, const Session& view, const Turn& turn, const Inputs& inputs);
// Cancels the delegations beneath the task of the turn that wait in a queue. Once the task is to be
// cancelled, they could never start.
void drop_queued_below(Facts& facts, const Session& view, const Turn& turn,
                       const std::string& reason, const Inputs& inputs);
// The fact that makes a task the child of another one, or that ends this.
schema::TaskDependencyUpdated parent_edge(const TaskId& parent, schema::EdgeStatus status);
// Resumes the blocked turns of all subagents below the thread. Returns whether there was one.
bool resume_below(Facts& facts, const Session& view, const ThreadId& thread);

// The subagents that a call of this thread's turn waits for. Errors: invalid_params, for a name
// that none of the thread's own subagents has, or several have.
Result<std::vector<SubagentId>> waited_for(const Session& view, const ThreadId& thread,
                                           const tools::WaitCall& call);
// The result of a wait for the model; nullopt: it must wait. `timed_out`: it ends in any case.
std::optional<std::string> wait_result(const Session& view, const std::vector<SubagentId>& waited,
                                       const tools::WaitCall& call, bool timed_out);
// The same for an open call of a turn.
std::optional<std::string> wait_result(const Session& view, const ThreadId& thread,
                                       const state::ToolCall& call, bool timed_out);

void end_agent_call(Facts& facts, const schema::ToolScope& scope, const state::ToolCall& call,
                    std::string result);

// Adds what the decision means for parents: the status of their subagents, and the end of their
// waits for them. `inputs`: those of the decision, with ids that it has not used.
Decided with_parents(const Session& view, Decided decision, Inputs inputs);

}  // namespace agentrt::control
