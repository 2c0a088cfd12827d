// control/jobs/job_items.cc: decides which items of a job start, and when a job ends.
#include <algorithm>

#include <fmt/format.h>

#include "control/flow.h"
#include "control/jobs/jobs.h"

namespace agentrt::control {

using namespace schema;

namespace {

TurnOptions options_of(const JobRecord& job) {
  TurnOptions out;
  out.model = job.runner.model;
  out.tools = job.runner.tools;
  out.mode = job.options.mode;
  out.sandbox = job.options.sandbox;
  out.interactive = job.options.interactive;
  return out;
}

// Starts items on the threads of a job.
class Starter {
 public:
  Starter(Facts& facts, const Session& view, const state::Job& job,
          const std::optional<Policy>& policy, Inputs& inputs)
      : facts_(facts), view_(view), job_(job), policy_(policy), inputs_(inputs) {
    left_ = std::min<std::uint64_t>(state::free_slots(job), kItemsPerDecisionMax);
    for (const ThreadId& id : job.record.threads) {
      const Thread* thread = find_thread(view, id);
      if (thread && !thread->active) free_.push_back(thread);
    }
  }

  bool has_room() const { return left_ > 0; }

  // `attempts`: those before.
  void start(const JobLine& at, std::uint64_t attempts) {
    --left_;
    Thread fresh;
    const Thread* thread = nullptr;
    if (!free_.empty()) {
      thread = free_.back();
      free_.pop_back();
    } else {
      fresh.id = inputs_.ids.next<ThreadId>();
      facts_.add(facts_.of(fresh.id), ThreadStarted{});
      thread = &fresh;
    }
    // The files may have changed since the last item: a rule that denies the command wins.
    if (policy_) adopt_policy(facts_, view_, facts_.of(thread->id), *policy_);
    submit(*thread, at, attempts + 1);
    // Until the command is allowed, the turn is prepared first, like any other.
    if (job_.permission) Flow{facts_, view_, *thread, inputs_}.go_on();
  }

 private:
  void submit(const Thread& thread, const JobLine& at, std::uint64_t attempt) {
    const JobRecord& record = job_.record;
    const TurnIds turn{.thread = thread.id,
                       .turn = inputs_.ids.next<TurnId>(),
                       .task = record.ids.task,
                       .run = inputs_.ids.next<RunId>(),
                       .attempt = inputs_.ids.next<AttemptId>(),
                       .trace = inputs_.ids.next_trace(),
                       .job = record.ids.job,
                       .job_item = at.id};
    TurnSubmitted submitted{.status = Status::accepted,
                            .input = {},
                            .source = "job",
                            .options = options_of(record),
                            .metadata = {}};
    submitted.input_ref = record.input_ref;
    facts_.add(facts_.of(turn), std::move(submitted));
    JobItemStarted started{.attempt_count = attempt,
                           .assigned_thread = thread.id.text(),
                           .at = at,
                           .tool_call_id = {}};
    const bool command = record.runner.kind == RunnerKind::command;
    if (command) started.tool_call_id = inputs_.ids.next<ToolCallId>();
    facts_.add(JobItemScope{facts_.of(turn)}, std::move(started));
    facts_.add(facts_.of(turn), TurnStarted{.boot_id = inputs_.boot, .queued_ms = 0});
    if (!job_.permission)
      facts_.add(facts_.of(turn),
                 RunStatus{.status = Status::preparing, .phase = "prepare", .title = "Preparing"});
  }

  Facts& facts_;
  const Session& view_;
  const state::Job& job_;
  const std::optional<Policy>& policy_;
  Inputs& inputs_;
  std::uint64_t left_ = 0;
  std::vector<const Thread*> free_;
};

// The counts of a job after the facts of a decision, and whether one of its items ended with them.
struct After {
  JobCounts counts;
  bool item_ended = false;
  bool job_ended = false;
  std::uint64_t redo = 0;         // failed items that the job still has to retry
  std::optional<Failure> failed;  // the last item that failed, and is not retried
};

template <class P>
const P* fact_of_job(const Draft& draft, const JobId& job) {
  return draft.ids.job_id == job ? std::get_if<P>(&draft.payload) : nullptr;
}

// Whether the turn that ends with this fact had reported its answer before.
bool was_reported(const Session& view, const Draft& draft) {
  const Thread* thread = find_thread(view, draft.ids.thread_id);
  return thread && thread->active && thread->active->item && thread->active->item->reported;
}

After after(const Session& view, const state::Job& job, const std::vector<Draft>& facts) {
  After out;
  out.counts = job.record.counts;
  out.redo = job.record.redo;
  const JobId& id = job.record.ids.job;
  JobCounts& counts = out.counts;
  for (const Draft& draft : facts) {
    if (draft.ids.job_id != id) continue;
    if (fact_of_job<JobItemStarted>(draft, id)) {
      --counts.pending;
      ++counts.running;
    } else if (fact_of_job<JobItemCompleted>(draft, id)) {
      out.item_ended = true;
      --(was_reported(view, draft) ? counts.reported : counts.running);
      ++counts.completed;
    } else if (const auto* failed = fact_of_job<JobItemFailed>(draft, id)) {
      out.item_ended = true;
      --(was_reported(view, draft) ? counts.reported : counts.running);
      ++(failed->retry_at ? counts.pending : counts.failed);
      if (!failed->retry_at) out.failed = failed->error;
    } else if (const auto* progress = fact_of_job<JobProgress>(draft, id);
               progress && progress->redo_ended.value_or(false)) {
      out.redo = 0;
      out.item_ended = true;
    } else if (fact_of_job<JobCompleted>(draft, id) || fact_of_job<JobFailed>(draft, id) ||
               fact_of_job<JobCancelled>(draft, id)) {
      out.job_ended = true;
    }
  }
  return out;
}

void add_end(Facts& facts, const state::Job& job, const JobCounts& counts,
             const std::optional<Failure>& error, const Inputs& inputs,
             TaskEnd end = TaskEnd::as_error) {
  const JobScope scope{inputs.session, job.record.ids};
  const TaskScope task = scope.of_attempt();
  if (!error) {
    facts.add(
        scope.of_attempt(),
        TaskAttemptCompleted{
            .summary = {}, .output_refs = {}, .duration_ms = facts.since(job.record.started_at)});
    facts.add(scope, JobCompleted{counts});
    return facts.task_completes(task);
  }
  const bool cancelled = error->category == Category::cancelled;
  const Status status = cancelled                  ? Status::cancelled
                        : end != TaskEnd::as_error ? Status::timed_out
                                                   : Status::failed;
  if (job.record.status != JobStatus::queued)
    facts.add(
        scope.of_attempt(),
        TaskAttemptFailed{
            .status = status, .error = *error, .duration_ms = facts.since(job.record.started_at)});
  if (cancelled) {
    facts.add(scope, JobCancelled{.reason = error->message, .counts = counts});
    return facts.task_cancels(task, error->message);
  }
  facts.add(scope, JobFailed{.error = error, .counts = counts});
  if (end == TaskEnd::deadline) return facts.add(task, TaskTimedOut{.reason = "deadline"});
  facts.task_fails(task, *error,
                   end == TaskEnd::timeout ? TaskStatus::timed_out : TaskStatus::failed);
}

// Items that wait for another attempt end as failed with their job.
JobCounts settled(JobCounts counts, std::uint64_t waiting) {
  waiting = std::min(waiting, counts.pending);
  counts.pending -= waiting;
  counts.failed += waiting;
  return counts;
}

std::uint64_t lines_left(const state::Job& job, const std::vector<Draft>& facts) {
  std::uint64_t line = job.record.cursor.line;
  for (const Draft& draft : facts)
    if (const auto* started = fact_of_job<JobItemStarted>(draft, job.record.ids.job))
      if (started->at) line = std::max(line, started->at->line);
  return job.record.items - std::min(line, job.record.items);
}

void settle_job(Facts& ends, const Session& view, const state::Job& job,
                const std::vector<Draft>& facts, const Inputs& inputs) {
  const After now = after(view, job, facts);
  if (!now.item_ended || now.job_ended) return;
  // An item failed before the command was allowed: the others would fail in the same way.
  const bool stuck = now.failed && job.record.runner.kind == RunnerKind::command && !job.permission;
  if (now.counts.running + now.counts.reported == 0 &&
      (stuck || (now.counts.pending == 0 && now.redo == 0))) {
    const std::uint64_t waiting =
        now.counts.pending - std::min(now.counts.pending, lines_left(job, facts));
    const JobCounts counts = settled(now.counts, waiting);
    if (stuck) return add_end(ends, job, counts, now.failed, inputs);
    if (counts.failed == 0) return add_end(ends, job, counts, std::nullopt, inputs);
    const std::optional<Failure>& last = now.failed ? now.failed : job.record.error;
    return add_end(
        ends, job, counts,
        Failure{last ? last->category : Category::internal,
                fmt::format("{} of {} items failed", counts.failed, job.record.items), true},
        inputs);
  }
  if (inputs.now - job.progress_at >= kJobProgressEveryMs)
    ends.add(JobScope{inputs.session, job.record.ids}, JobProgress{.counts = now.counts,
                                                                   .item_status = {},
                                                                   .item = {},
                                                                   .reason = {},
                                                                   .judge_again = {},
                                                                   .redo_ended = {}});
}

}  // namespace

std::optional<Timestamp> item_retry(const Session& view, const Turn& turn, const Failure& error,
                                    const Inputs& inputs) {
  const state::Job* job = job_of(view, turn);
  if (!job || error.category == Category::cancelled || error.category == Category::denied)
    return std::nullopt;
  const JobRecord& record = job->record;
  const std::uint64_t attempts = turn.item->attempts;
  const RetryPolicy policy = record.retry_policy.value_or(RetryPolicy{});
  if (error.category == Category::lost || error.category == Category::interrupted) {
    if (!record.repeatable || attempts >= std::max(policy.max_attempts, kLostAttemptsMax))
      return std::nullopt;
    return inputs.now;
  }
  const auto& never = policy.non_retryable;
  if (!error.retryable || attempts >= policy.max_attempts ||
      (never && std::ranges::find(*never, error.category) != never->end()))
    return std::nullopt;
  return inputs.now + backoff_ms(policy, attempts);
}

void settle_jobs(const Session& view, std::vector<Draft>& facts, const Inputs& inputs) {
  for (const auto& [_, job] : view.jobs) {
    Facts ends{view, inputs};
    settle_job(ends, view, job, facts, inputs);
    for (Draft& draft : ends.take()) facts.push_back(std::move(draft));
  }
}

void end_job(Facts& facts, const Session& view, const state::Job& job, const Failure& error,
             const Inputs& inputs, TaskEnd end) {
  JobCounts counts = settled(job.record.counts, job.waiting.size());
  for (const ThreadId& id : job.record.threads) {
    const Thread* thread = find_thread(view, id);
    if (!thread || !thread->active) continue;
    facts.stop_item(*thread->active, error);
    --(thread->active->item->reported ? counts.reported : counts.running);
    ++counts.failed;
  }
  add_end(facts, job, counts, error, inputs, end);
}

Decided job_items(const Session& view, const ReportJobItems& report, Inputs inputs) {
  const state::Job* job = find_job(view, report.job);
  if (!job) return Unchanged{};
  Facts facts{view, inputs};
  if (report.failure) {
    end_job(facts, view, *job, *report.failure, inputs);
    return accept(facts);
  }
  for (const JobItemRecord& item : report.failed) {
    if (!state::is_redone(job->record, item.first)) continue;  // read before an earlier report
    const bool denied = item.last_error && item.last_error->category == Category::denied;
    facts.add(JobScope{inputs.session, job->record.ids, item.at.id},
              JobProgress{.counts = {},
                          .item_status = JobItemStatus::pending,
                          .item = item,
                          .reason = job->record.reason,
                          .judge_again = denied ? std::optional(true) : std::nullopt,
                          .redo_ended = {}});
  }
  if (report.failed_ended && job->record.redo > 0)
    facts.add(JobScope{inputs.session, job->record.ids}, JobProgress{.counts = {},
                                                                     .item_status = {},
                                                                     .item = {},
                                                                     .reason = {},
                                                                     .judge_again = {},
                                                                     .redo_ended = true});
  if (!facts.empty()) return accept(facts);
  Starter starter{facts, view, *job, report.policy, inputs};
  for (const state::WaitingItem& waiting : job->waiting) {
    if (!starter.has_room()) break;
    if (!waiting.due || *waiting.due <= inputs.now)
      starter.start(waiting.item.at, waiting.item.attempts);
  }
  std::uint64_t line = job->record.cursor.line;
  for (const JobLine& next : report.lines) {
    if (!starter.has_room() || line >= job->record.items) break;
    if (next.line != line + 1) continue;  // read before an earlier report was decided
    starter.start(next, 0);
    line = next.line;
  }
  return accept(facts);
}

Decided item_judged(const Session& view, const ReportItemJudged& report, Inputs inputs) {
  const Thread* thread = thread_of_active(view, report.turn);
  if (!thread || !thread->active->item || !thread->active->item->reported) return Unchanged{};
  const Turn& turn = *thread->active;
  Facts facts{view, inputs};
  if (report.wrong)
    facts.fail(turn, {Category::invalid_input, "outputSchema: " + *report.wrong, true});
  else
    facts.complete(turn, turn.answered.value_or(StopReason::end_turn), turn.usage);
  return accept(facts);
}

Decided job_due(const Session& view, const ReportJobDue& report, Inputs inputs) {
  const state::Job* job = find_job(view, report.job);
  if (!job || !job->record.max_runtime_ms) return Unchanged{};
  Facts facts{view, inputs};
  end_job(facts, view, *job,
          {Category::timeout,
           fmt::format("the job ran longer than {} ms (maxRuntimeMs)", *job->record.max_runtime_ms),
           true},
          inputs);
  return accept(facts);
}

}  // namespace agentrt::control
