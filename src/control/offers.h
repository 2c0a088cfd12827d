// control/offers.h: which answers a permission request offers: the scopes, and the rules of which
// an answer for longer than once stores one. Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "policy/permission.h"
#include "schema/binding.h"
#include "schema/commands/actions.h"

namespace agentrt::control {

// A longer exact rule is not listed; an answer that names no rule still stores it.
inline constexpr std::size_t kOfferedRuleBytesMax = 1'024;

struct Offer {
  std::vector<std::string> scopes;  // once first
  std::vector<std::string> rules;   // empty unless a scope other than once is offered
};

// Whether the call would run, without a question, if `rule` were granted.
using RuleTest = std::function<bool(const schema::PolicyRule& rule)>;

// The rule that grants exactly this call: a command only in the folder and with the files that the
// person was asked about.
schema::PolicyRule exact_grant(const policy::Asked& asked, const schema::Binding& binding,
                               const std::string& home);

// Offers only what would have an effect: leaving the sandbox is granted once at a time, and where
// a rule or hook asks about the call each time, no grant is offered. A destructive command and one
// whose files are bound by digest get no wider rule.
Offer offer_answers(const policy::Asked& asked, const policy::Judgement& judgement,
                    const schema::Binding& binding, const std::string& home,
                    const RuleTest& would_run);

}  // namespace agentrt::control
