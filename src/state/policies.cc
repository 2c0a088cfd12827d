#include "state/policies.h"

#include <algorithm>
#include <utility>

namespace agentrt::state {

using namespace schema;

namespace {

// The policy of a prepared turn. One without a thread is of a log before threads had their own.
void resolve(Session& session, const ThreadId& thread_id, const Policy& policy) {
  const auto thread = session.threads.find(thread_id);
  const bool known = thread != session.threads.end();
  // A decision folds the facts of other threads into a part of the session without these.
  if (!known && !thread_id.empty() && session.has_policy) return;
  if (known && (session.has_policy || session.catalog > 0)) {
    thread->second.policy = policy;
    return;
  }
  session.policy = policy;
  session.has_policy = true;
}

void remove(Session& session, const PolicyRule& rule) {
  std::vector<std::vector<PolicyRule>*> lists{&session.granted, &session.policy.rules};
  for (auto& [_, thread] : session.threads)
    if (thread.policy) lists.push_back(&thread.policy->rules);
  for (std::vector<PolicyRule>* from : lists)
    std::erase_if(*from, [&](const PolicyRule& each) {
      const bool own = from == &session.granted || each.origin == RuleOrigin::always;
      const bool unbound = !rule.cwd && each.cwd == "";
      return own &&
             (each == rule || (unbound && each.effect == rule.effect && each.rule == rule.rule));
    });
}

}  // namespace

void change_policy(Session& session, const Fact& fact, const PolicyChanged& change) {
  if (change.policy) resolve(session, fact.ids.thread_id, *change.policy);
  if (change.mode && !change.workspace) session.mode = change.mode;
  for (const PolicyRule& rule : change.removed.value_or(std::vector<PolicyRule>{}))
    remove(session, rule);
  for (PolicyRule rule : change.added.value_or(std::vector<PolicyRule>{})) {
    if (!change.removed) bind_old_grant(rule);  // an answer; set_policy always sends both lists
    if (std::ranges::find(session.granted, rule) == session.granted.end())
      session.granted.push_back(std::move(rule));
  }
}

const std::vector<PolicyRule>& granted_to(const Session& session, const Turn& turn,
                                          std::vector<PolicyRule>& room) {
  const auto applies = [&](const PolicyRule& rule) {
    return !rule.channel_id || rule.channel_id == turn.channel;
  };
  if (std::ranges::all_of(session.granted, applies)) return session.granted;
  room.clear();
  std::ranges::copy_if(session.granted, std::back_inserter(room), applies);
  return room;
}

namespace {

void count(Governance& governance, DecisionSource source, Decision decision) {
  const auto same = [&](const DecisionCount& each) {
    return each.source == source && each.decision == decision;
  };
  auto at = std::ranges::find_if(governance.decisions, same);
  if (at == governance.decisions.end()) at = governance.decisions.insert(at, {source, decision, 0});
  ++at->count;
}

void note(Governance& governance, const SeenViolation& violation) {
  ++governance.violations;
  governance.newest.push_back(violation);
  if (governance.newest.size() > kViolationsKept)
    governance.newest.erase(governance.newest.begin());
}

}  // namespace

void count_decision(Session& session, Thread* thread, DecisionSource source, Decision decision) {
  count(session.governance, source, decision);
  if (thread) count(thread->governance, source, decision);
}

void count_violation(Session& session, Thread* thread, const Fact& fact,
                     const SandboxViolation& violation) {
  const SeenViolation seen{
      fact.sequence,    fact.at,
      violation.kind,   std::string(utf8_prefix(violation.attempted, kInputPreviewBytes)),
      violation.layer,  violation.advisory,
      fact.ids.turn_id, fact.ids.process_id};
  note(session.governance, seen);
  if (thread) note(thread->governance, seen);
}

}  // namespace agentrt::state
