// validate/work_rules.h: rules for jobs and their items, and subagents.
#pragma once

#include "schema/provisional.h"
#include "validate/rule_context.h"

namespace agentrt::validate {

class WorkRules {
 public:
  explicit WorkRules(RuleContext& hearing) : hearing_(hearing) {}

  void operator()(const schema::JobCreated& p);
  void operator()(const schema::JobStarted& p);
  void operator()(const schema::JobProgress& p);
  void operator()(const schema::JobItemStarted& p);
  void operator()(const schema::JobItemCompleted& p);
  void operator()(const schema::JobItemFailed& p);
  void operator()(const schema::JobCompleted& p);
  void operator()(const schema::JobFailed& p);
  void operator()(const schema::JobCancelled& p);
  void operator()(const schema::SubagentSpawned& p);
  void operator()(const schema::SubagentStatus& p);
  void operator()(const schema::SubagentInput& p);
  void operator()(const schema::SubagentCompleted& p);
  void operator()(const schema::SubagentFailed& p);
  void operator()(const schema::SubagentClosed& p);

 private:
  enum class JobState { created, started, failed, ended };
  struct Job {
    JobState state = JobState::created;
    std::uint64_t running = 0;  // items
  };
  enum class ItemState { pending, running, completed, failed };
  struct Item {
    ItemState state = ItemState::pending;
    std::uint64_t attempts = 0;
  };
  struct Subagent {
    std::uint64_t open = 1;  // delegations that have not ended
    bool closed = false;
    std::string thread;  // of the subagent; empty: not named
    std::string parent;  // the thread that its events belong to; empty: not named
  };

  Job* job();
  void job_ends(const std::optional<schema::JobCounts>& counts, JobState how);
  void item_ends(ItemState to, const std::optional<std::uint64_t>& attempt_count);
  Subagent* open_subagent(const ThreadId& thread);
  void delegation_ends(const ThreadId& thread);

  RuleContext& hearing_;
  Table<Job> jobs_;
  Table<Item> items_;
  Table<Subagent> subagents_;
};

}  // namespace agentrt::validate
