// runtime/grants.h: what people granted beyond one session, as the store's index rows have it:
// files that they trust, and rules for a whole workspace.
#pragma once

#include "ports/policies.h"
#include "runtime/trust.h"
#include "store/store.h"

namespace agentrt::runtime {

// The newest so many rows count; what is older is asked for again.
inline constexpr std::size_t kGrantRowsMax = 1'000;

// Any thread.
class StoredTrust final : public TrustRecords {
 public:
  explicit StoredTrust(store::Store& store) : store_(store) {}
  Result<std::vector<TrustRecord>> of(const std::string& workspace) override;

 private:
  store::Store& store_;
};

// Another's policies, with the rules that were granted to the workspace for good. Any thread.
class GrantedPolicies final : public ports::Policies {
 public:
  GrantedPolicies(ports::Policies& files, store::Store& store) : files_(files), store_(store) {}
  Result<schema::Policy> policy(const std::string& cwd) override;

 private:
  ports::Policies& files_;
  store::Store& store_;
};

}  // namespace agentrt::runtime
