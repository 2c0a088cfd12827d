// kernel/job_reads.h: the answers to get_job and list_jobs, from index rows and the input of a job.
// These block and are called on a reader.
#pragma once

#include "kernel/limits.h"
#include "ports/job_inputs.h"
#include "store/store.h"

namespace agentrt::kernel {

struct FoundJob {
  SessionId session;
  schema::JobRecord record;
};
// Errors: not_found, also if the job belongs to another session than the query names.
Result<FoundJob> find_job_row(store::Store& store, const schema::GetJob& query);

// `record`: the current state of the job. Items that were started come first, the newest first;
// then the pending lines of the input, unless `inputs` is null.
Result<std::string> read_job(store::Store& store, ports::JobInputs* inputs,
                             const SessionId& session, const schema::JobRecord& record,
                             const schema::GetJob& query);
Result<std::string> list_jobs(store::Store& store, const schema::ListJobs& query,
                              const Limits& limits);

}  // namespace agentrt::kernel
