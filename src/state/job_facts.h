// state/job_facts.h: applies facts to the jobs of a session. Pure; part of fold(). Each function
// applies one fact.
#pragma once

#include <type_traits>

#include "state/session.h"

namespace agentrt::state {

// The running job that the fact names; nullptr if there is none.
Job* job_of(Session& session, const schema::Fact& fact);
// The running job that works on the task; nullptr: none.
Job* job_of_task(Session& session, const TaskId& task);

template <class P>
concept JobFact = std::is_same_v<typename P::Scope, schema::JobScope> ||
                  std::is_same_v<typename P::Scope, schema::JobItemScope>;

// `turn`: the running turn of the fact; nullptr if it has none.
void fold_job(Session& session, Turn* turn, const schema::Fact& fact, const schema::JobCreated& p);
void fold_job(Session& session, Turn* turn, const schema::Fact& fact, const schema::JobStarted& p);
void fold_job(Session& session, Turn* turn, const schema::Fact& fact, const schema::JobProgress& p);
void fold_job(Session& session, Turn* turn, const schema::Fact& fact,
              const schema::JobItemStarted& p);
void fold_job(Session& session, Turn* turn, const schema::Fact& fact,
              const schema::JobItemCompleted& p);
void fold_job(Session& session, Turn* turn, const schema::Fact& fact,
              const schema::JobItemFailed& p);
void fold_job(Session& session, Turn* turn, const schema::Fact& fact,
              const schema::JobCompleted& p);
void fold_job(Session& session, Turn* turn, const schema::Fact& fact, const schema::JobFailed& p);
void fold_job(Session& session, Turn* turn, const schema::Fact& fact,
              const schema::JobCancelled& p);

// The command of the item was allowed, and starts or waits at its gate: the decision holds for the
// whole job.
void permit_command(Session& session, const Turn& turn, const ToolCall& call);

}  // namespace agentrt::state
