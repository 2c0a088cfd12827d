#include "validate/work_rules.h"

namespace agentrt::validate {

using namespace schema;

// --- jobs ---

void WorkRules::operator()(const JobCreated&) {
  const std::string& id = hearing_.head().job_id;
  const Key key = hearing_.key(id);
  if (jobs_.find(key))
    return hearing_.fail("job.order", fmt::format("job {} is created a second time", id));
  jobs_.at(key);
}

// The job, unless it has ended, which is a violation.
WorkRules::Job* WorkRules::job() {
  const std::string& id = hearing_.head().job_id;
  Job* found = jobs_.find(hearing_.key(id));
  const bool has_ended =
      found && (found->state == JobState::ended || found->state == JobState::failed);
  if (found && !has_ended) return found;
  if (found || !hearing_.excuses(jobs_))
    hearing_.fail("job.order",
                  fmt::format("job {} {}", id, found ? "has ended" : "was not created"));
  return nullptr;
}

// A failed job may start again; the fact then says why.
void WorkRules::operator()(const JobStarted& p) {
  const Key key = hearing_.key(hearing_.head().job_id);
  if (Job* known = jobs_.find(key); known && known->state == JobState::failed && p.reason) {
    known->state = JobState::started;
    return jobs_.reopen(key);
  }
  Job* open = job();
  if (!open) return;
  if (open->state == JobState::started)
    hearing_.fail("job.order", fmt::format("job {} starts a second time", hearing_.head().job_id));
  open->state = JobState::started;
}

void WorkRules::operator()(const JobProgress&) { job(); }

void WorkRules::operator()(const JobItemStarted& p) {
  const Head& head = hearing_.head();
  Job* of_item = job();
  if (of_item && of_item->state == JobState::created)
    hearing_.fail("job.order", fmt::format("job {} has not started", head.job_id));
  const Key key = hearing_.key(head.job_id + " " + head.job_item_id);
  Item& item = items_.at(key);
  if (item.state == ItemState::running || item.state == ItemState::completed)
    return hearing_.fail(
        "job.item",
        fmt::format("item {} {}", head.job_item_id,
                    item.state == ItemState::running ? "is already running" : "has completed"));
  ++item.attempts;
  if (p.attempt_count && !hearing_.excuses(items_) && *p.attempt_count != item.attempts)
    hearing_.fail("job.item", fmt::format("attempt {} of item {} has number {}", item.attempts,
                                          head.job_item_id, *p.attempt_count));
  items_.reopen(key);
  item.state = ItemState::running;
  if (of_item) ++of_item->running;
}

void WorkRules::item_ends(ItemState to, const std::optional<std::uint64_t>& attempt_count) {
  const Head& head = hearing_.head();
  const Key key = hearing_.key(head.job_id + " " + head.job_item_id);
  Item* item = items_.find(key);
  if (!item && hearing_.excuses(items_)) return;
  if (!item || item->state != ItemState::running)
    return hearing_.fail("job.item", fmt::format("item {} is not running", head.job_item_id));
  if (attempt_count && !hearing_.partial && *attempt_count != item->attempts)
    hearing_.fail("job.item", fmt::format("attempt {} of item {} has number {}", item->attempts,
                                          head.job_item_id, *attempt_count));
  item->state = to;
  items_.end(key);
  if (Job* of_item = jobs_.find(hearing_.key(head.job_id)); of_item && of_item->running > 0)
    --of_item->running;
}

void WorkRules::operator()(const JobItemCompleted& p) {
  item_ends(ItemState::completed, p.attempt_count);
}
void WorkRules::operator()(const JobItemFailed& p) {
  item_ends(ItemState::failed, p.attempt_count);
}

void WorkRules::job_ends(const std::optional<JobCounts>& counts, JobState how) {
  Job* open = job();
  if (!open) return;
  const std::uint64_t left = counts ? counts->running : 0;
  if (open->running > 0 || left > 0)
    hearing_.fail("job.settled",
                  fmt::format("job {} ends while {} items are running", hearing_.head().job_id,
                              std::max(open->running, left)));
  open->state = how;
  jobs_.end(hearing_.key(hearing_.head().job_id));
}

void WorkRules::operator()(const JobCompleted& p) {
  if (p.counts && p.counts->pending > 0)
    hearing_.fail("job.settled", fmt::format("job {} completed with {} items pending",
                                             hearing_.head().job_id, p.counts->pending));
  job_ends(p.counts, JobState::ended);
}
void WorkRules::operator()(const JobFailed& p) { job_ends(p.counts, JobState::failed); }
void WorkRules::operator()(const JobCancelled& p) { job_ends(p.counts, JobState::ended); }

// --- subagents ---

void WorkRules::operator()(const SubagentSpawned& p) {
  const std::string& id = hearing_.head().subagent_id;
  const Key key = hearing_.key(id);
  if (subagents_.find(key))
    return hearing_.fail("subagent.order", fmt::format("subagent {} is spawned a second time", id));
  Subagent& subagent = subagents_.at(key);
  subagent.thread = p.child_thread_id.text();
  subagent.parent = hearing_.head().thread_id;
}

// The subagent, unless it is closed or unknown, which is a violation.
WorkRules::Subagent* WorkRules::open_subagent(const ThreadId& thread) {
  const std::string& id = hearing_.head().subagent_id;
  Subagent* subagent = subagents_.find(hearing_.key(id));
  if (subagent && !subagent->closed) {
    if (!thread.empty() && !subagent->thread.empty() && thread.text() != subagent->thread)
      hearing_.fail("subagent.order", fmt::format("subagent {} works on thread {}, not on {}", id,
                                                  subagent->thread, thread.text()));
    const std::string& parent = hearing_.head().thread_id;
    if (!parent.empty() && !subagent->parent.empty() && parent != subagent->parent)
      hearing_.fail("subagent.order", fmt::format("subagent {} belongs to thread {}, not to {}", id,
                                                  subagent->parent, parent));
    return subagent;
  }
  if (subagent || !hearing_.excuses(subagents_))
    hearing_.fail("subagent.order",
                  fmt::format("subagent {} {}", id, subagent ? "is closed" : "was not spawned"));
  return nullptr;
}

void WorkRules::delegation_ends(const ThreadId& thread) {
  Subagent* subagent = open_subagent(thread);
  if (!subagent) return;
  if (subagent->open == 0)
    hearing_.fail("subagent.order", fmt::format("the last delegation of subagent {} has ended",
                                                hearing_.head().subagent_id));
  else
    --subagent->open;
}

// A status reactivates a subagent that was idle.
void WorkRules::operator()(const SubagentStatus& p) {
  Subagent* subagent = open_subagent(p.child_thread_id);
  if (subagent && subagent->open == 0) subagent->open = 1;
}
void WorkRules::operator()(const SubagentInput& p) {
  if (Subagent* subagent = open_subagent(p.child_thread_id)) ++subagent->open;
}
void WorkRules::operator()(const SubagentCompleted& p) { delegation_ends(p.child_thread_id); }
void WorkRules::operator()(const SubagentFailed& p) { delegation_ends(p.child_thread_id); }
void WorkRules::operator()(const SubagentClosed& p) {
  (void)open_subagent(p.child_thread_id);
  const Key key = hearing_.key(hearing_.head().subagent_id);
  subagents_.at(key).closed = true;
  subagents_.end(key);
}

}  // namespace agentrt::validate
