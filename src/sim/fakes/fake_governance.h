// sim/fakes/fake_governance.h: the policy of a simulated workspace, hooks that answer after a
// while, and a world that approvals are bound to.
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

struct HookAnswer {
  std::int64_t after_ms = 4;  // past the hook's time it is a failure
  schema::HookOutcome outcome;
};

// What outlives the runtime: files, hooks and what they did.
struct FakeGovernance {
  schema::Policy policy;
  std::string world = "1";  // what a call is bound to; another word is another world
  // How the hook answers; without this it says nothing against anything.
  std::function<HookAnswer(const ports::HookRequest&)> hook;
  std::map<std::string, std::size_t> hook_runs;  // by run id
  std::map<ProcessId, std::string> seen;         // the world when the process was last looked at
  void trust_files() {
    for (schema::PolicyFile& file : policy.files) file.trusted = true;
  }

  // Defects that can be planted.
  bool hooks_run_twice = false;
  bool looks_late = false;  // a look at the world tells what the look before it saw
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
  Result<std::shared_ptr<const ports::HeldFiles>> hold(
      const ports::ProcessRequest& request, const std::vector<std::string>& executes) override;

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
