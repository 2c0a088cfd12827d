// kernel/read_commands.h: the answers to the commands that only read.
//
// There is one read() per command; a read command without one does not compile. A read of a
// session waits on its lane, so a client that has the reply to a command sees its effect. Blocking
// work runs on a worker. Core only.
#pragma once

#include <atomic>
#include <functional>
#include <unordered_set>

#include "control/decide.h"
#include "kernel/lanes.h"
#include "kernel/limits.h"
#include "kernel/past/past.h"
#include "kernel/subagent_reads.h"
#include "ports/job_inputs.h"
#include "ports/policies.h"

namespace agentrt::kernel {

class ReadCommands {
 public:
  struct Parts {
    store::Store& store;
    ports::Worker& readers;
    Lanes& lanes;
    SubagentWaits& waits;
    const control::Settings& settings;
    const Limits& limits;
    BootId boot;
    ports::Policies* policies;  // null: commands about policy must not be given
    // Sessions that an earlier boot left with open work and that are not loaded yet: lists report
    // their status as stale.
    const std::unordered_set<SessionId>& unrecovered;
    ports::Loop& loop;
    ports::JobInputs* job_inputs;  // null: pending items are counted, not listed
    ports::Worker& past_readers;   // for reads with atSequence
  };

  explicit ReadCommands(Parts parts) : parts_(std::move(parts)) {}

  void set_job_inputs(ports::JobInputs& inputs) { parts_.job_inputs = &inputs; }
  // Ends reads of the past with an error. Any thread.
  void stop_past_reads() { past_stopped_ = true; }

  // REQUIRES: the command only reads. `reply_to` is called once, on the core or on a worker.
  void answer(schema::Command command, ports::ReplyTo reply_to);

 private:
  void read(schema::ListSessions query, ports::ReplyTo reply_to);
  void read(schema::GetSession query, ports::ReplyTo reply_to);
  void read(schema::GetThreadRead query, ports::ReplyTo reply_to);
  void read(schema::ListEvents query, ports::ReplyTo reply_to);
  void read(schema::ListActions query, ports::ReplyTo reply_to);
  void read(schema::EvaluatePermission query, ports::ReplyTo reply_to);
  void read(schema::GetRules query, ports::ReplyTo reply_to);
  void read(schema::GetTrust query, ports::ReplyTo reply_to);
  void read(schema::GetToolInventory query, ports::ReplyTo reply_to);
  void read(schema::GetExecutionEnvironment query, ports::ReplyTo reply_to);
  void read(schema::GetTask query, ports::ReplyTo reply_to);
  void read(schema::ListTasks query, ports::ReplyTo reply_to);
  void read(schema::GetJob query, ports::ReplyTo reply_to);
  void read(schema::ListJobs query, ports::ReplyTo reply_to);
  void read(schema::ListSubagents query, ports::ReplyTo reply_to);
  void read(schema::WaitSubagents query, ports::ReplyTo reply_to);
  void read(schema::GetReadModel query, ports::ReplyTo reply_to);
  void read(schema::GetTurn query, ports::ReplyTo reply_to);
  void read(schema::FindObject query, ports::ReplyTo reply_to);
  void read(schema::ListChannels query, ports::ReplyTo reply_to);

  // Calls `read` with the members of the session's view that its policy depends on; without a
  // session, with an empty one in `cwd` (default: the daemon's workspace).
  using ReadPolicy = std::move_only_function<void(state::Session, ports::ReplyTo)>;
  void with_policy(const std::optional<SessionId>& session, const std::optional<std::string>& cwd,
                   ports::ReplyTo reply_to, ReadPolicy read);
  // Calls `read` with the session's view, in order with other work on the lane. not_found: no such
  // session.
  using ReadView = std::move_only_function<void(const state::Session&, ports::ReplyTo)>;
  void with_view(const SessionId& session, ports::ReplyTo reply_to, ReadView read);
  // Runs a blocking read of the view and of the store's rows, which are as of the view: the lane of
  // the session waits for it.
  using ReadRows = std::move_only_function<ports::Reply(const state::Session&)>;
  void with_rows(const SessionId& session, ports::ReplyTo reply_to, ReadRows read);
  // Runs a blocking read that returns the reply; overloaded if the readers' queue is full.
  void on_worker(std::move_only_function<ports::Reply()> read, ports::ReplyTo reply_to);
  // Runs a blocking read of an earlier state; overloaded if past_reads_max run.
  using ReadPast = std::move_only_function<ports::Reply(const PastSource&)>;
  void in_past(ReadPast read, ports::ReplyTo reply_to);

  Parts parts_;
  std::size_t past_reads_ = 0;  // that run
  std::atomic<bool> past_stopped_{false};
};

}  // namespace agentrt::kernel
