#include "sim/fake_governance.h"

namespace agentrt::sim {

Result<schema::Binding> FakeInspector::inspect(const ports::ProcessRequest& request,
                                               const std::vector<std::string>& executes) {
  schema::Binding binding;
  binding.cwd = request.cwd.value_or(request.workspace);
  binding.cwd_identity = governance_.world;
  for (const std::string& path : executes) binding.files.push_back({path, governance_.world});
  return binding;
}

void FakeHooks::start(ports::HookRequest request, std::shared_ptr<ports::HookListener> listener) {
  ++governance_.hook_runs[request.id];
  listeners_[request.id] = std::move(listener);
  loop_.after(governance_.hook_ms, [this, request = std::move(request)] {
    const auto found = listeners_.find(request.id);
    if (found == listeners_.end()) return;
    const auto hears = std::move(found->second);
    listeners_.erase(found);
    hears->on_ended(governance_.hook ? governance_.hook(request) : schema::HookOutcome{});
  });
}

}  // namespace agentrt::sim
