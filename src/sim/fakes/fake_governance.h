// sim/fakes/fake_governance.h: fakes of the policy, of hooks that answer after a delay, and of the
// files that approvals are bound to.
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
  std::int64_t after_ms = 4;  // beyond the hook's timeout: it fails
  schema::HookOutcome outcome;
};

// State that outlives the runtime: files, hooks and what hooks did.
struct FakeGovernance {
  schema::Policy policy;
  // Stands for the files that an approval is bound to; a new value means that they changed.
  std::string world = "1";
  // The hook's answer; empty: hooks allow everything.
  std::function<HookAnswer(const ports::HookRequest&)> hook;
  std::map<std::string, std::size_t> hook_runs;  // by run id
  std::map<ProcessId, std::string> seen;         // `world` when the process was last inspected
  void trust_files() {
    for (schema::PolicyFile& file : policy.files) file.trusted = true;
  }

  // Defects that a test can plant.
  bool hooks_run_twice = false;
  bool looks_late = false;  // an inspection returns the result of the previous one
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
  bool is_absent(const std::string&) override { return false; }
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
