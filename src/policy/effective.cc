#include "policy/effective.h"

#include <algorithm>
#include <functional>
#include <ranges>
#include <string_view>

#include "policy/laxity.h"
#include "policy/paths.h"
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
  out.tools = turn.tools;
  if (sources.write_roots) out.write_roots = *sources.write_roots;
  if (auto rules = sets.compiled(sources.policy.rules, sources.granted))
    out.rules = *std::move(rules);
  else
    out.unreadable = std::move(rules.error());
  return out;
}

namespace {

// The folders that both lists contain. An absent list contains every folder.
std::optional<std::vector<std::string>> common_folders(
    const std::optional<std::vector<std::string>>& a,
    const std::optional<std::vector<std::string>>& b) {
  if (!a || !b) return a ? a : b;
  std::vector<std::string> out;
  const auto add_inside = [&](const std::vector<std::string>& of,
                              const std::vector<std::string>& others) {
    for (const std::string& folder : of)
      if (std::ranges::any_of(others,
                              [&](const std::string& other) { return is_within(folder, other); }) &&
          std::ranges::find(out, folder) == out.end())
        out.push_back(folder);
  };
  add_inside(*a, *b);
  add_inside(*b, *a);
  return out;
}

}  // namespace

bool has_tool(const Effective& policy, std::string_view tool) {
  if (policy.tools && std::ranges::find(*policy.tools, tool) == policy.tools->end()) return false;
  return !policy.parent || has_tool(*policy.parent, tool);
}

Effective narrowed(Effective own, Effective parent) {
  if (!at_most_as_lax(own.mode, parent.mode) && at_most_as_lax(parent.mode, own.mode))
    own.mode = parent.mode;
  if (!at_most_as_lax(own.sandbox, parent.sandbox)) own.sandbox = parent.sandbox;
  own.network = own.network && parent.network;
  if (!own.unreadable) own.unreadable = parent.unreadable;
  own.write_roots = common_folders(own.write_roots, parent.write_roots);
  // Without a sandbox nothing would confine its writes.
  if (own.write_roots && own.sandbox == schema::SandboxMode::full_access)
    own.sandbox = schema::SandboxMode::workspace_write;
  parent.interactive = own.interactive;
  own.parent = std::make_shared<const Effective>(std::move(parent));
  return own;
}

Effective derive(std::span<const Sources> chain, const std::string& home, RuleSets& sets) {
  Effective out = derive(chain.back(), home, sets);
  for (const Sources& below : chain.first(chain.size() - 1) | std::views::reverse)
    out = narrowed(derive(below, home, sets), std::move(out));
  return out;
}

Effective with_rules(const Effective& policy, const Rules& added) {
  Effective out = policy;
  Rules rules = *policy.rules;
  rules.all.insert(rules.all.end(), added.all.begin(), added.all.end());
  out.rules = std::make_shared<const Rules>(std::move(rules));
  if (policy.parent)
    out.parent = std::make_shared<const Effective>(with_rules(*policy.parent, added));
  return out;
}

}  // namespace agentrt::policy
