// policy/fallback.h: what follows a failed model request: a retry, the next model of the chain, or
// the end of the turn. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schema/facts/model.h"
#include "schema/facts/routing.h"

namespace agentrt::policy {

// A provider that asks for a longer wait is not waited for if another model can answer.
inline constexpr std::int64_t kRateWaitMaxMs = 5'000;

struct FailedRequest {
  std::string model_name;
  std::optional<schema::FaultCause> cause;  // absent: the runtime ended it
  std::optional<std::int64_t> retry_after_ms = {};
};

// The candidate to ask next: the first name of the chain that is a candidate and can help. After
// context_size, only a model with a larger context can. Null: there is none, or another model
// would give the same answer.
const schema::Candidate* next_model(const FailedRequest& failed,
                                    const std::vector<std::string>& chain,
                                    std::span<const schema::Candidate> candidates);

// Whether to ask the next model at once instead of retrying the failed one.
// REQUIRES: there is a next model.
bool prefers_next(const FailedRequest& failed);

// Why the turn leaves the model, as a clause: "is rate-limited".
std::string_view clause_of(schema::FaultCause cause);

}  // namespace agentrt::policy
