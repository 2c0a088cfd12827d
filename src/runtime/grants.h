// runtime/grants.h: decisions beyond one session, read from the store's index rows: trusted files,
// and the rules and the mode of a whole workspace.
#pragma once

#include "config/trust.h"
#include "ports/policies.h"
#include "store/store.h"

namespace agentrt::runtime {

// Only the newest rows apply; older grants must be given again.
inline constexpr std::size_t kGrantRowsMax = 1'000;

// Which files of the workspace these index rows of kind `trust`, newest first, declare trusted.
Result<std::vector<config::TrustRecord>> trust_in(const std::vector<store::IndexEntry>& rows,
                                                  const std::string& workspace);

// Callable from any thread.
class StoredTrust final : public config::TrustRecords {
 public:
  explicit StoredTrust(store::Store& store) : store_(store) {}
  Result<std::vector<config::TrustRecord>> of(const std::string& workspace) override;

 private:
  store::Store& store_;
};

// Adds what people decided for a workspace to the policy of `files`: the rules that they granted
// permanently and, where no file sets one, the mode that they chose. A rule that was taken back in
// any session does not count until it is granted again. Callable from any thread.
class GrantedPolicies final : public ports::Policies {
 public:
  GrantedPolicies(ports::Policies& files, store::Store& store) : files_(files), store_(store) {}
  Result<schema::Policy> policy(const std::string& cwd) override;

 private:
  ports::Policies& files_;
  store::Store& store_;
};

}  // namespace agentrt::runtime
