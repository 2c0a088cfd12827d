// sim/fake_governance.h: the policy of a simulated workspace, hooks that answer after a while, and
// a world that approvals are bound to.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ports/hooks.h"
#include "ports/inspection.h"
#include "ports/loop.h"
#include "ports/policies.h"

namespace agentrt::sim {

// What outlives the runtime: files, hooks and what they did.
struct FakeGovernance {
  schema::Policy policy;
  std::string world = "1";  // what a call is bound to; another word is another world
  std::int64_t hook_ms = 4;
  // What the hook called so answers; without one it says nothing against it.
  std::function<schema::HookOutcome(const ports::HookRequest&)> hook;
  std::map<std::string, std::size_t> hook_runs;  // by run id
};

class FakePolicies final : public ports::Policies {
 public:
  explicit FakePolicies(FakeGovernance& governance) : governance_(governance) {}
  Result<schema::Policy> policy(const std::string&) override { return governance_.policy; }

 private:
  FakeGovernance& governance_;
};

class FakeInspector final : public ports::Inspector {
 public:
  explicit FakeInspector(FakeGovernance& governance) : governance_(governance) {}
  Result<schema::Binding> inspect(const ports::ProcessRequest& request,
                                  const std::vector<std::string>& executes) override;

 private:
  FakeGovernance& governance_;
};

class FakeHooks final : public ports::Hooks {
 public:
  FakeHooks(ports::Loop& loop, FakeGovernance& governance) : loop_(loop), governance_(governance) {}
  void start(ports::HookRequest request, std::shared_ptr<ports::HookListener> listener) override;
  void cancel(const std::string& id) override { listeners_.erase(id); }

 private:
  ports::Loop& loop_;
  FakeGovernance& governance_;
  std::map<std::string, std::shared_ptr<ports::HookListener>> listeners_;
};

}  // namespace agentrt::sim
