#include "policy/effective.h"

#include <algorithm>
#include <functional>
#include <ranges>
#include <string_view>

#include "policy/rules.h"

namespace agentrt::policy {
namespace {

using schema::PolicyRule;

void mix(std::uint64_t& hash, std::uint64_t value) {
  constexpr std::uint64_t kOdd = 0x9E37'79B9'7F4A'7C15;
  hash = (hash ^ value) * kOdd;
  hash ^= hash >> 32;
}

// Rules that differ only in their origin or in the contents that a grant is bound to have the same
// hash; is_made_of() tells them apart.
void mix(std::uint64_t& hash, const PolicyRule& rule) {
  const std::hash<std::string_view> of_text;
  mix(hash, of_text(rule.rule));
  mix(hash, static_cast<std::uint64_t>(rule.effect));
  if (rule.cwd) mix(hash, of_text(*rule.cwd));
}

std::uint64_t hash_of(const std::vector<PolicyRule>& first, const std::vector<PolicyRule>& second) {
  std::uint64_t hash = 0;
  for (const PolicyRule& rule : first) mix(hash, rule);
  for (const PolicyRule& rule : second) mix(hash, rule);
  return hash;
}

std::uint64_t hash_of(const Rules& rules) {
  std::uint64_t hash = 0;
  for (const Rule& rule : rules.all) mix(hash, rule.source);
  return hash;
}

bool is_made_of(const Rules& rules, const std::vector<PolicyRule>& first,
                const std::vector<PolicyRule>& second) {
  if (rules.all.size() != first.size() + second.size()) return false;
  const auto sources = rules.all | std::views::transform(&Rule::source);
  return std::ranges::equal(sources | std::views::take(first.size()), first) &&
         std::ranges::equal(sources | std::views::drop(first.size()), second);
}

}  // namespace

const std::shared_ptr<const Rules>& no_rules() {
  static const auto kNone = std::make_shared<const Rules>();
  return kNone;
}

RuleSets::RuleSets(std::shared_ptr<const Rules> known) {
  const std::uint64_t hash = hash_of(*known);
  keep({hash, std::move(known)});
}

void RuleSets::keep(Kept set) {
  if (kept_.size() >= kRuleSetsMax) kept_.pop_back();
  kept_.insert(kept_.begin(), std::move(set));
}

Result<std::shared_ptr<const Rules>> RuleSets::compiled(const RuleList& first,
                                                        const RuleList& second) {
  if (first.empty() && second.empty()) return no_rules();
  const std::uint64_t hash = hash_of(first, second);
  const auto known = std::ranges::find_if(kept_, [&](const Kept& each) {
    return each.hash == hash && is_made_of(*each.rules, first, second);
  });
  if (known != kept_.end()) {
    std::rotate(kept_.begin(), known, known + 1);
    return kept_.front().rules;
  }
  RuleList all = first;
  all.insert(all.end(), second.begin(), second.end());
  ++compilations_;
  TRY_ASSIGN(Rules rules, compile(all, ToolNames::reserved_too));
  keep({hash, std::make_shared<const Rules>(std::move(rules))});
  return kept_.front().rules;
}

Effective derive(const Sources& sources, const std::string& home, RuleSets& sets) {
  Effective out;
  const schema::TurnOptions& turn = sources.turn;
  out.mode = turn.mode.value_or(sources.mode.value_or(sources.policy.mode));
  out.sandbox = turn.sandbox.value_or(sources.policy.sandbox);
  out.network = sources.policy.network;
  out.interactive = turn.interactive.value_or(true) ? Interactive::yes : Interactive::no;
  out.home = home;
  if (auto rules = sets.compiled(sources.policy.rules, sources.granted))
    out.rules = *std::move(rules);
  else
    out.unreadable = std::move(rules.error());
  return out;
}

}  // namespace agentrt::policy
