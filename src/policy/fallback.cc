#include "policy/fallback.h"

#include <algorithm>

#include "base/tokens.h"

namespace agentrt::policy {

using namespace schema;

namespace {

struct Row {
  FaultCause cause;
  bool next_model;  // another model may answer the same request
  std::string_view clause;
};
constexpr Row kRows[] = {{FaultCause::server, true, "failed"},
                         {FaultCause::overloaded, true, "is overloaded"},
                         {FaultCause::connection, true, "cannot be reached"},
                         {FaultCause::timeout, true, "took too long"},
                         {FaultCause::stalled, true, "stopped answering"},
                         {FaultCause::empty, true, "gave no answer"},
                         {FaultCause::malformed, true, "sent an unusable answer"},
                         {FaultCause::rate_limit, true, "is rate-limited"},
                         {FaultCause::no_credit, true, "has no credit left"},
                         {FaultCause::credential, true, "rejects the API key"},
                         {FaultCause::unknown_model, true, "is unknown to its provider"},
                         {FaultCause::context_size, true, "has too small a context"},
                         {FaultCause::content, false, "refused the content"},
                         {FaultCause::invalid, false, "rejected the request"}};

const Row& row_of(FaultCause cause) { return *std::ranges::find(kRows, cause, &Row::cause); }

std::uint64_t window_of(const Candidate& candidate) {
  return candidate.context_tokens.value_or(kContextTokensDefault);
}

}  // namespace

const Candidate* next_model(const FailedRequest& failed, const std::vector<std::string>& chain,
                            std::span<const Candidate> candidates) {
  if (!failed.cause || !row_of(*failed.cause).next_model) return nullptr;
  const auto find = [&](const std::string& name) {
    const auto at = std::ranges::find(candidates, name, &Candidate::name);
    return at == candidates.end() ? nullptr : &*at;
  };
  const Candidate* current = find(failed.model_name);
  for (const std::string& name : chain) {
    const Candidate* next = find(name);
    if (!next) continue;
    if (failed.cause == FaultCause::context_size && current &&
        window_of(*next) <= window_of(*current))
      continue;
    return next;
  }
  return nullptr;
}

bool prefers_next(const FailedRequest& failed) {
  return failed.cause == FaultCause::rate_limit &&
         failed.retry_after_ms.value_or(0) > kRateWaitMaxMs;
}

std::string_view clause_of(FaultCause cause) { return row_of(cause).clause; }

}  // namespace agentrt::policy
