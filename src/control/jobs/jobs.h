// control/jobs/jobs.h: what decisions about jobs and about the turns of their items share.
#pragma once

#include "control/tasks/task_facts.h"

namespace agentrt::control {

inline constexpr std::size_t kItemPreviewBytes = 512;  // of an item's output, in its facts and row
inline constexpr std::int64_t kJobProgressEveryMs = 1'000;
// Items that one decision starts at most; it bounds the duration of a step of the core.
inline constexpr std::size_t kItemsPerDecisionMax = 4;

// The running or queued job of the view; null: none.
const state::Job* find_job(const Session& view, const JobId& job);
// The running job whose item the turn is an attempt at; null: none.
const state::Job* job_of(const Session& view, const Turn& turn);
// The job that works on the task or is queued for it; null: none.
const state::Job* job_of_task(const Session& view, const TaskId& task);
// Refuses another worker for a task that a queued job waits for. `worker`: the job that is to
// start.
std::optional<Error> job_waits_for(const Session& view, const TaskId& task,
                                   const std::optional<JobId>& worker);
// Refuses a turn on a thread that runs items of a job.
std::optional<Error> thread_of_job(const Session& view, const ThreadId& thread);
// Whether the turn is an item whose job runs a command.
bool runs_command(const Session& view, const Turn& turn);
// When the policy of the job retries a failed item; nullopt: it stays failed.
std::optional<Timestamp> item_retry(const Session& view, const Turn& turn,
                                    const schema::Failure& error, const Inputs& inputs);
// Adds the end of each job whose last item ends with these facts, or its progress.
void settle_jobs(const Session& view, std::vector<schema::Draft>& facts, const Inputs& inputs);

// What the end of a job means for its task: as the error says, or the task has reached a time limit
// of one attempt or of all.
enum class TaskEnd { as_error, timeout, deadline };
// Ends the job with everything that it runs: cancelled if the error says so, otherwise failed.
void end_job(Facts& facts, const Session& view, const state::Job& job, const schema::Failure& error,
             const Inputs& inputs, TaskEnd end = TaskEnd::as_error);
// Starts a queued job; or a failed one again as the next attempt of its task, with all failed
// items. Errors: it is no such job of this task, or too many jobs run.
Result<Run> reopen_job(Facts& facts, const Session& view, const state::Task& task,
                       const schema::TaskWorker& worker, Inputs& inputs);
// The reply to a command about a job that does not change it.
Decided job_reply(const Session& view, const JobId& job, schema::JobStatus status);

}  // namespace agentrt::control
