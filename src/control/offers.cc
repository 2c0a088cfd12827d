#include "control/offers.h"

#include "policy/wider_rules.h"
#include "tools/registry.h"

namespace agentrt::control {

using namespace schema;

namespace {

bool is_command(const policy::Asked& asked) {
  return tools::runner_of(asked.tool) == tools::Runner::process;
}

}  // namespace

PolicyRule exact_grant(const policy::Asked& asked, const Binding& binding,
                       const std::string& home) {
  PolicyRule rule{RuleEffect::allow, policy::exact_rule(asked, home), RuleOrigin::session};
  if (!is_command(asked)) return rule;
  rule.cwd = binding.cwd;
  if (!binding.files.empty()) rule.executes = binding.files;
  return rule;
}

Offer offer_answers(const policy::Asked& asked, const policy::Judgement& judgement,
                    const Binding& binding, const std::string& home, const RuleTest& would_run) {
  Offer offer{{std::string(name_of(AnswerScope::once))}, {}};
  if (asked.escalation == policy::Escalation::outside_sandbox) return offer;
  const PolicyRule exact = exact_grant(asked, binding, home);
  if (!would_run(exact)) return offer;
  offer.scopes.emplace_back(name_of(AnswerScope::session));
  offer.scopes.emplace_back(name_of(AnswerScope::always));
  if (exact.rule.size() <= kOfferedRuleBytesMax) offer.rules.push_back(exact.rule);
  const bool bound = is_command(asked) && !binding.files.empty();
  if (judgement.destructive || bound) return offer;
  for (std::string& rule : policy::wider_rules(asked)) {
    if (!would_run({RuleEffect::allow, rule, RuleOrigin::session})) continue;
    offer.rules.push_back(std::move(rule));
    break;
  }
  return offer;
}

}  // namespace agentrt::control
