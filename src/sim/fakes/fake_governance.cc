#include "sim/fakes/fake_governance.h"

namespace agentrt::sim {

Result<schema::Binding> FakeInspector::inspect(const ports::ProcessRequest& request,
                                               const std::vector<std::string>& executes) {
  schema::Binding binding;
  binding.cwd = request.cwd.value_or(request.workspace);
  const std::string before =
      governance_.seen.try_emplace(request.id, governance_.world).first->second;
  governance_.seen[request.id] = governance_.world;
  const std::string& world = governance_.looks_late ? before : governance_.world;
  binding.cwd_identity = world;
  for (const std::string& path : executes) binding.files.push_back({path, world});
  return binding;
}

Result<std::shared_ptr<const ports::HeldFiles>> FakeInspector::hold(
    const ports::ProcessRequest& request, const std::vector<std::string>& executes) {
  auto held = std::make_shared<ports::HeldFiles>();
  const auto before = governance_.seen.find(request.id);
  const bool late = governance_.looks_late && before != governance_.seen.end();
  for (const std::string& path : executes)
    held->files.push_back({path, late ? before->second : governance_.world});
  return held;
}

void FakeHooks::start(ports::HookRequest request, std::shared_ptr<ports::HookListener> listener) {
  ++governance_.hook_runs[request.id];
  HookAnswer answer = governance_.hook ? governance_.hook(request) : HookAnswer{};
  if (governance_.hooks_run_twice && governance_.hook) answer = governance_.hook(request);
  if (const auto limit = static_cast<std::int64_t>(request.hook.timeout_ms);
      answer.after_ms > limit) {
    answer = {limit, {}};
    answer.outcome.failure =
        schema::Failure{schema::Category::timeout, "the hook took too long", false};
  }
  listeners_[request.id] = std::move(listener);
  loop_.after(answer.after_ms, [this, id = request.id, outcome = std::move(answer.outcome)] {
    const auto found = listeners_.find(id);
    if (found == listeners_.end()) return;
    const auto hears = std::move(found->second);
    listeners_.erase(found);
    hears->on_ended(outcome);
  });
}

}  // namespace agentrt::sim
