// kernel/past/past.h: the replies to reads with `atSequence`: what get_session, get_thread_read and
// get_read_model returned when that fact was the session's last one.
//
// The past is a fold of the log from its first fact, which also derives the index rows of the
// reply (kernel/past/past_store.h). Stored snapshots and rows know only the present. All functions
// block, for up to some seconds, and run on a worker of their own.
//
// Errors, besides those of the same read without `atSequence`: invalid_params: atSequence is 0;
// gone: it is after the last fact, details.lastSequence; limit_exceeded: more than past_facts_max
// facts would be folded; unavailable: the runtime stops.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "control/decide.h"
#include "kernel/limits.h"
#include "kernel/past/past_store.h"
#include "schema/commands.h"

namespace agentrt::kernel {

// What the reads of the past share.
struct PastSource {
  store::Store& store;
  const control::Settings& settings;
  const Limits& limits;
  const std::atomic<bool>& stopped;  // ends the fold early
};

// The session after its fact `at`, and the rows of that moment. `rows` refers to source.store.
struct Past {
  state::Session view;
  std::unique_ptr<PastStore> rows;
};
Result<Past> fold_past(const PastSource& source, const SessionId& session, Sequence at,
                       PastTurns turns);

// The JSON of the replies. REQUIRES: the query has atSequence.
Result<std::string> past_session(const PastSource& source, schema::GetSession query);
Result<std::string> past_thread(const PastSource& source, const schema::GetThreadRead& query);
Result<std::string> past_model(const PastSource& source, const schema::GetReadModel& query);

}  // namespace agentrt::kernel
