#include "state/jobs.h"

#include <algorithm>

#include "state/job_facts.h"

namespace agentrt::state {

using namespace schema;

std::uint64_t free_slots(const Job& job) {
  if (job.paused || job.record.status == JobStatus::queued) return 0;
  const std::uint64_t running = job.record.counts.running + job.record.counts.reported;
  const bool alone = job.record.runner.kind == RunnerKind::command && !job.permission;
  const std::uint64_t most = alone ? 1 : job.record.concurrency;
  return most - std::min(running, most);
}

bool has_more_lines(const Job& job) {
  return job.record.cursor.line < job.record.items && job.waiting.size() < kWaitingItemsMax;
}

bool has_failed_left(const Job& job) {
  return job.record.redo > 0 && job.waiting.size() < kWaitingItemsMax;
}

bool is_redone(const JobRecord& job, Sequence first) {
  return job.redo > 0 && (job.redo_before == 0 || first < job.redo_before);
}

std::optional<Timestamp> next_due(const Job& job) {
  std::optional<Timestamp> next;
  for (const WaitingItem& waiting : job.waiting) {
    const Timestamp due = waiting.due.value_or(Timestamp{});
    if (!next || due.ms < next->ms) next = due;
  }
  return next;
}

namespace {

JobItemRecord record_of(const JobId& job, const JobItem& item, JobItemStatus status) {
  JobItemRecord out;
  out.job_id = job;
  out.at = item.at;
  out.status = status;
  out.attempt_count = item.attempts;
  out.first = item.first;
  return out;
}

// The item has left its turn's hands: it is running or reported no more.
void leave(JobCounts& counts, const JobItem& item) {
  std::uint64_t& count = item.reported ? counts.reported : counts.running;
  if (count > 0) --count;
}

void report_item(Session& session, Job& job, const Fact& fact) {
  for (const ThreadId& id : job.record.threads) {
    const auto thread = session.threads.find(id);
    if (thread == session.threads.end() || !thread->second.active) continue;
    Turn& turn = *thread->second.active;
    if (turn.ids.job_item != fact.ids.job_item_id || !turn.item || turn.item->reported) continue;
    leave(job.record.counts, *turn.item);
    ++job.record.counts.reported;
    turn.item->reported = true;
    job.changed = record_of(fact.ids.job_id, *turn.item, JobItemStatus::reported);
    job.changed->thread_id = id;
    return;
  }
}

}  // namespace

Job* job_of(Session& session, const Fact& fact) {
  const auto at = session.jobs.find(fact.ids.job_id);
  return at == session.jobs.end() ? nullptr : &at->second;
}

Job* job_of_task(Session& session, const TaskId& task) {
  for (auto& [_, job] : session.jobs)
    if (job.record.ids.task == task) return &job;
  return nullptr;
}

void fold_job(Session& session, Turn*, const Fact& fact, const JobCreated& created) {
  session.new_task.reset();
  Job job;
  JobRecord& record = job.record;
  record.ids = {fact.ids.job_id, fact.ids.task_id, fact.ids.run_id, fact.ids.attempt_id};
  record.runner = created.runner.value_or(JobRunner{});
  record.options = created.options.value_or(JobOptions{});
  record.retry_policy = created.retry_policy;
  record.concurrency = created.concurrency.value_or(kJobConcurrencyDefault);
  record.max_runtime_ms = created.max_runtime_ms;
  record.repeatable = created.repeatable.value_or(false);
  if (created.input_refs && !created.input_refs->empty())
    record.input_ref = created.input_refs->front();
  record.items = record.counts.pending = created.items.value_or(0);
  record.first = fact.sequence;
  record.created_at = fact.at;
  record.params_hash = created.params_hash;
  record.tool_name = created.tool_name;
  record.tool_args = created.tool_args;
  record.status = created.status.value_or(JobStatus::running);
  if (record.status == JobStatus::queued) record.created_queued = true;
  session.jobs[fact.ids.job_id] = std::move(job);
}

void fold_job(Session& session, Turn*, const Fact& fact, const JobStarted& started) {
  if (started.job) {
    Job reopened;
    reopened.record = *started.job;
    for (const ThreadId& id : reopened.record.threads) session.threads[id].id = id;
    session.jobs[fact.ids.job_id] = std::move(reopened);
  }
  Job* job = job_of(session, fact);
  if (!job) return;
  JobRecord& record = job->record;
  record.ids = {fact.ids.job_id, fact.ids.task_id, fact.ids.run_id, fact.ids.attempt_id};
  record.status = JobStatus::running;
  record.reason = started.reason;
  record.attempts = started.attempt_count.value_or(record.attempts + 1);
  record.started_at = fact.at;
  record.ended_at.reset();
  record.error.reset();
  job->progress_at = fact.at;
}

void fold_job(Session& session, Turn*, const Fact& fact, const JobProgress& progress) {
  Job* job = job_of(session, fact);
  if (!job) return;
  if (progress.counts) job->progress_at = fact.at;
  if (progress.judge_again.value_or(false)) job->permission.reset();
  if (progress.redo_ended.value_or(false)) job->record.redo = 0;
  job->changed.reset();
  if (progress.item_status == JobItemStatus::reported) return report_item(session, *job, fact);
  if (!progress.item || progress.item_status != JobItemStatus::pending) return;
  // A failed item waits for another attempt.
  JobCounts& counts = job->record.counts;
  if (counts.failed > 0) --counts.failed;
  ++counts.pending;
  if (is_redone(job->record, progress.item->first)) {
    --job->record.redo;
    job->record.redo_before = progress.item->first;
  }
  WaitingItem waiting;
  waiting.item = {progress.item->at, progress.item->attempt_count, progress.item->first};
  waiting.last_error = progress.item->last_error;
  job->waiting.push_back(std::move(waiting));
  job->changed = progress.item;
  job->changed->status = JobItemStatus::pending;
}

void fold_job(Session& session, Turn* active, const Fact& fact, const JobItemStarted& started) {
  Job* job = job_of(session, fact);
  if (!job || !active) return;
  Turn& turn = *active;
  JobItem item;
  if (started.at) item.at = *started.at;
  item.at.id = fact.ids.job_item_id;
  item.attempts = started.attempt_count.value_or(1);
  item.first = fact.sequence;
  JobCounts& counts = job->record.counts;
  const auto waiting = std::ranges::find(job->waiting, item.at.id,
                                         [](const WaitingItem& each) { return each.item.at.id; });
  if (waiting != job->waiting.end()) {
    item.first = waiting->item.first;
    job->waiting.erase(waiting);
  } else {
    job->record.cursor = {item.at.line, item.at.next};
  }
  if (counts.pending > 0) --counts.pending;
  ++counts.running;
  auto& threads = job->record.threads;
  if (std::ranges::find(threads, fact.ids.thread_id) == threads.end())
    threads.push_back(fact.ids.thread_id);
  job->changed = record_of(fact.ids.job_id, item, JobItemStatus::running);
  job->changed->thread_id = fact.ids.thread_id;
  if (started.tool_call_id) {
    ToolCall call;
    call.id = *started.tool_call_id;
    call.tool = job->record.tool_name.value_or("");
    if (job->record.tool_args) call.args = *job->record.tool_args;
    if (const auto& permission = job->permission) {
      call.args = permission->args;
      call.digest = permission->digest;
      call.as_shown = permission->as_shown;
      call.approved_as = permission->call;
      call.approved_until = permission->expires_at;
      turn.prepared = true;
    }
    turn.tools.push_back(std::move(call));
  }
  turn.item = std::move(item);
}

void permit_command(Session& session, const Turn& turn, const ToolCall& call) {
  const auto at = session.jobs.find(turn.ids.job.value_or(JobId{}));
  if (at == session.jobs.end() || at->second.permission || call.refused) return;
  JobPermission permission;
  permission.call = call.id;
  permission.args = call.args;
  permission.digest = call.digest;
  permission.as_shown = call.as_shown;
  if (turn.resolved && turn.resolved->call == call.id) {
    permission.expires_at = turn.resolved->required.expires_at;
    if (turn.resolved->required.executes) permission.files = *turn.resolved->required.executes;
  }
  at->second.permission = std::move(permission);
}

void fold_job(Session& session, Turn* turn, const Fact& fact, const JobItemCompleted& completed) {
  Job* job = job_of(session, fact);
  if (!job || !turn || !turn->item) return;
  JobCounts& counts = job->record.counts;
  leave(counts, *turn->item);
  ++counts.completed;
  job->changed = record_of(fact.ids.job_id, *turn->item, JobItemStatus::completed);
  job->changed->thread_id = fact.ids.thread_id;
  job->changed->output_ref = completed.output_ref;
  job->changed->preview = completed.preview;
}

void fold_job(Session& session, Turn* turn, const Fact& fact, const JobItemFailed& failed) {
  Job* job = job_of(session, fact);
  if (!job || !turn || !turn->item) return;
  JobCounts& counts = job->record.counts;
  leave(counts, *turn->item);
  ++(failed.retry_at ? counts.pending : counts.failed);
  const JobItemStatus status = failed.retry_at ? JobItemStatus::pending : JobItemStatus::failed;
  job->changed = record_of(fact.ids.job_id, *turn->item, status);
  job->changed->thread_id = fact.ids.thread_id;
  job->changed->last_error = failed.error;
  job->changed->output_ref = failed.output_ref;
  job->changed->preview = failed.preview;
  job->record.error = failed.error;
  if (failed.retry_at) job->waiting.push_back({*turn->item, failed.retry_at, failed.error});
}

namespace {

// The threads of the job leave the view with it: nothing else runs on them.
void end_job(Session& session, const Fact& fact, JobStatus status,
             const std::optional<Failure>& error, const std::optional<std::string>& reason) {
  auto ended = session.jobs.extract(fact.ids.job_id);
  if (!ended) return;
  Job& job = ended.mapped();
  job.record.status = status;
  job.record.error = error;
  if (reason) job.record.reason = reason;
  job.record.ended_at = fact.at;
  // Items that wait for another attempt have failed.
  JobCounts& counts = job.record.counts;
  counts.pending -= std::min<std::uint64_t>(counts.pending, job.waiting.size());
  counts.failed += job.waiting.size();
  for (const ThreadId& id : job.record.threads) session.threads.erase(id);
  session.ended_job = std::move(job);
}

}  // namespace

void fold_job(Session& session, Turn*, const Fact& fact, const JobCompleted&) {
  end_job(session, fact, JobStatus::completed, {}, {});
}

void fold_job(Session& session, Turn*, const Fact& fact, const JobFailed& failed) {
  end_job(session, fact, JobStatus::failed, failed.error, {});
}

void fold_job(Session& session, Turn*, const Fact& fact, const JobCancelled& cancelled) {
  end_job(session, fact, JobStatus::cancelled, {}, cancelled.reason);
}

}  // namespace agentrt::state
