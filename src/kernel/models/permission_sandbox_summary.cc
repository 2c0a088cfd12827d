// kernel/models/permission_sandbox_summary.cc: the policy that calls are under, open questions,
// what was decided by which source, and what sandboxes have stopped.
#include <algorithm>

#include "kernel/models/models.h"
#include "state/read_models.h"

namespace agentrt::kernel::models {

using namespace schema;

namespace {

struct Profile {
  TurnId turn_id;  // whose commands ran, or would run, under it
  EnvironmentSandbox sandbox;
  CommandNetwork network = CommandNetwork::none;
  ProcessLimits limits;
};
BOOST_DESCRIBE_STRUCT(Profile, (), (turn_id, sandbox, network, limits))

struct Violations {
  std::uint64_t total = 0;
  std::vector<state::SeenViolation> newest;  // newest first
};
BOOST_DESCRIBE_STRUCT(Violations, (), (total, newest))

struct Model {
  SessionId session_id;
  std::optional<ThreadId> thread_id;
  Json mode;                                   // as the last prepared turn had it
  std::optional<PermissionMode> session_mode;  // by set_policy
  std::vector<PolicyRule> rules;
  std::uint64_t rule_count = 0;
  std::vector<ActionSnapshot> open_approvals;
  std::uint64_t open_count = 0;
  std::vector<state::DecisionCount> decisions;
  Json profile;
  Violations violations;
};
BOOST_DESCRIBE_STRUCT(Model, (),
                      (session_id, thread_id, mode, session_mode, rules, rule_count, open_approvals,
                       open_count, decisions, profile, violations))

// The thread whose turn was prepared last, or the one that the model is narrowed to.
const state::Thread* prepared_thread(const Source& source) {
  const state::Thread* newest = nullptr;
  for (const auto& [id, thread] : source.view.threads)
    if (includes(source, id) && thread.environment &&
        (!newest || thread.environment_at > newest->environment_at))
      newest = &thread;
  return newest;
}

Json profile_of(const state::Thread* thread) {
  if (!thread) return absent(Honesty::unknown, "no turn has been prepared");
  const ExecutionEnvironment& environment = *thread->environment;
  return part(Profile{thread->environment_turn.value_or(TurnId{}), environment.sandbox_profile,
                      environment.network_profile, environment.resource_limits});
}

// The rules in force with the last prepared turn, those granted for the session last.
std::vector<PolicyRule> rules_of(const Source& source, const Policy& policy) {
  std::vector<PolicyRule> out = policy.rules;
  for (const PolicyRule& rule : source.view.granted)
    if (std::ranges::find(out, rule) == out.end()) out.push_back(rule);
  return out;
}

}  // namespace

Result<std::string> permission_sandbox_summary(const Source& source) {
  const state::Session& view = source.view;
  const std::size_t most = source.limits.model_entries_max;
  Model model;
  model.session_id = view.id;
  model.thread_id = source.thread;
  const state::Thread* thread = prepared_thread(source);
  const Policy& policy = thread ? state::policy_of(view, thread->id) : view.policy;
  model.mode =
      view.has_policy ? part(policy.mode) : absent(Honesty::unknown, "no turn has been prepared");
  model.session_mode = view.mode;
  model.rules = rules_of(source, policy);
  std::ranges::reverse(model.rules);  // newest first
  model.rule_count = model.rules.size();
  if (model.rules.size() > most) model.rules.resize(most);
  for (const auto& [id, each] : view.threads) {
    if (!includes(source, id) || !each.active || !each.active->action) continue;
    ++model.open_count;
    if (model.open_approvals.size() < most)
      model.open_approvals.push_back(
          state::action_snapshot(view, *each.active, *each.active->action));
  }
  const state::Thread* own = source.thread ? state::find_thread(view, *source.thread) : nullptr;
  const state::Governance governance = own             ? own->governance
                                       : source.thread ? state::Governance{}
                                                       : view.governance;
  model.decisions = governance.decisions;
  model.violations = {governance.violations,
                      {governance.newest.rbegin(), governance.newest.rend()}};
  model.profile = profile_of(thread);
  return finished(model, source);
}

}  // namespace agentrt::kernel::models
