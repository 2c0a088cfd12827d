#include "policy/effective.h"

#include <doctest/doctest.h>

#include "policy/permission.h"

namespace agentrt::policy {
namespace {

using schema::Decision;
using schema::PermissionMode;
using schema::PolicyRule;
using schema::RuleEffect;
using schema::RuleOrigin;
using schema::SandboxMode;

PolicyRule rule(std::string text, RuleEffect effect = RuleEffect::allow) {
  return {effect, std::move(text), RuleOrigin::user};
}

// What a policy is derived from, with nothing in it.
struct Given {
  schema::Policy policy;
  std::vector<PolicyRule> granted;
  std::optional<PermissionMode> mode;
  schema::TurnOptions turn;

  Effective under(RuleSets& sets) const {
    return derive({policy, granted, mode, turn}, "/home/ada", sets);
  }
};

}  // namespace

TEST_CASE("a turn's options come before the session's, and those before its files'") {
  RuleSets sets;
  Given given;
  given.policy.mode = PermissionMode::plan;
  given.policy.sandbox = SandboxMode::read_only;
  given.policy.network = true;
  Effective policy = given.under(sets);
  CHECK(policy.mode == PermissionMode::plan);
  CHECK(policy.sandbox == SandboxMode::read_only);
  CHECK(policy.network);
  CHECK(policy.interactive == Interactive::yes);
  CHECK(policy.home == "/home/ada");
  CHECK(policy.rules->all.empty());
  given.mode = PermissionMode::never;
  CHECK(given.under(sets).mode == PermissionMode::never);
  given.turn.mode = PermissionMode::bypass;
  given.turn.sandbox = SandboxMode::full_access;
  given.turn.interactive = false;
  policy = given.under(sets);
  CHECK(policy.mode == PermissionMode::bypass);
  CHECK(policy.sandbox == SandboxMode::full_access);
  CHECK(policy.interactive == Interactive::no);
}

TEST_CASE("rules are compiled once per change, and shared by sessions that have the same") {
  RuleSets sets;
  Given given;
  CHECK(given.under(sets).rules == no_rules());
  CHECK(sets.compilations() == 0);
  given.policy.rules = {rule("shell(ls:*)"), rule("shell(cat:*)")};
  const auto first = given.under(sets).rules;
  Given other = given;
  other.turn.mode = PermissionMode::auto_;
  CHECK(other.under(sets).rules == first);
  CHECK(sets.compilations() == 1);
  given.granted = {rule("shell(rm x)", RuleEffect::deny)};
  const auto second = given.under(sets).rules;
  REQUIRE(second->all.size() == 3);
  CHECK(second->all.back().source == given.granted.front());
  CHECK(given.under(sets).rules == second);
  given.granted.clear();
  CHECK(given.under(sets).rules == first);
  CHECK(sets.compilations() == 2);
}

TEST_CASE("every part of a rule makes another set") {
  RuleSets sets;
  Given given;
  given.policy.rules = {rule("shell(\"make\")")};
  std::vector<Given> others(6, given);
  others[0].policy.rules.front().effect = RuleEffect::deny;
  others[1].policy.rules.front().origin = RuleOrigin::managed;
  others[2].policy.rules.front().cwd = "/w";
  others[3].policy.rules.front().executes =
      std::vector<schema::ExecutedFile>{{"/w/Makefile", "sha256:aa"}};
  others[4].policy.rules.push_back(rule("shell(ls)"));
  others[5].policy.rules.insert(others[5].policy.rules.begin(), rule("shell(ls)"));
  (void)given.under(sets);
  for (const Given& other : others) {
    const auto rules = other.under(sets).rules;
    REQUIRE(rules->all.size() == other.policy.rules.size());
    for (std::size_t i = 0; i < rules->all.size(); ++i)
      CHECK(rules->all[i].source == other.policy.rules[i]);
  }
  CHECK(sets.compilations() == 1 + others.size());
}

TEST_CASE("the least recently used set is dropped when there are too many") {
  RuleSets sets;
  const auto use = [&](std::size_t number) {
    Given given;
    given.policy.rules = {rule("shell(x" + std::to_string(number) + ")")};
    return given.under(sets).rules;
  };
  for (std::size_t i = 0; i < kRuleSetsMax; ++i) use(i);
  use(0);
  use(kRuleSetsMax);  // evicts number 1
  CHECK(sets.compilations() == kRuleSetsMax + 1);
  use(0);
  CHECK(sets.compilations() == kRuleSetsMax + 1);
  CHECK(use(1)->all.front().source.rule == "shell(x1)");
  CHECK(sets.compilations() == kRuleSetsMax + 2);
}

TEST_CASE("rules that cannot be read deny everything, in every mode") {
  RuleSets sets;
  Given given;
  given.policy.rules = {rule("shell(ls:*)"), rule("no_such_tool")};
  given.turn.mode = PermissionMode::bypass;
  const Effective policy = given.under(sets);
  REQUIRE(policy.unreadable);
  const Asked asked{.tool = "shell", .text = "ls", .cwd = "/w", .workspace = "/w"};
  const Judgement judgement = judge(asked, policy);
  CHECK(judgement.decision == Decision::deny);
  CHECK(judgement.reason == policy.unreadable->message);
  CHECK(general_decision("shell", Access::changes, "/w", policy) == Decision::deny);
  CHECK(general_decision("read_file", Access::read_only, "/w", policy) == Decision::deny);
}

TEST_CASE("a set that was compiled elsewhere is not compiled again") {
  RuleSets first;
  Given given;
  given.policy.rules = {rule("shell(ls:*)")};
  given.granted = {rule("shell(cat:*)")};
  const auto rules = given.under(first).rules;
  RuleSets second(rules);
  CHECK(given.under(second).rules == rules);
  CHECK(second.compilations() == 0);
  given.granted.clear();
  CHECK(given.under(second).rules->all.size() == 1);
  CHECK(second.compilations() == 1);
}

TEST_CASE("a subagent's policy is never wider than its parent's, whichever changes") {
  RuleSets sets;
  Given parent;
  parent.policy.mode = PermissionMode::default_;
  Given child = parent;
  child.turn.mode = PermissionMode::bypass;
  child.turn.sandbox = SandboxMode::full_access;
  child.policy.network = true;
  const auto both = [&] { return narrowed(child.under(sets), parent.under(sets)); };
  CHECK(both().mode == PermissionMode::default_);
  CHECK(both().sandbox == SandboxMode::workspace_write);
  CHECK_FALSE(both().network);
  const Asked command{.tool = "shell", .text = "make", .cwd = "/w", .workspace = "/w"};
  CHECK(judge(command, both()).decision == Decision::ask);
  parent.policy.rules = {rule("shell(make)", RuleEffect::deny)};
  CHECK(judge(command, both()).decision == Decision::deny);
  // Of modes that cannot be compared, the stricter decision about each call counts.
  parent.policy.rules.clear();
  parent.policy.mode = PermissionMode::plan;
  child.turn.mode = PermissionMode::untrusted;
  CHECK(judge(command, both()).decision == Decision::deny);
  const Asked reading{.tool = "read_file",
                      .text = "a",
                      .cwd = "/w",
                      .workspace = "/w",
                      .access = Access::read_only};
  CHECK(judge(reading, both()).decision == Decision::ask);
}

TEST_CASE("tools and write roots of a subagent are the common part of the chain") {
  RuleSets sets;
  Given parent;
  parent.policy.mode = PermissionMode::bypass;
  parent.turn.tools = std::vector<std::string>{"write_file", "shell"};
  Effective above = parent.under(sets);
  above.write_roots = std::vector<std::string>{"/w/docs", "/w/src"};
  Given child = parent;
  child.turn.tools = std::vector<std::string>{"write_file", "read_file"};
  Effective own = child.under(sets);
  own.write_roots = std::vector<std::string>{"/w/docs/api", "/w/tests"};
  const Effective policy = narrowed(own, above);
  CHECK(policy.write_roots == std::vector<std::string>{"/w/docs/api"});
  const auto decision = [&](const char* tool, const char* text) {
    return judge({.tool = tool, .text = text, .cwd = "/w", .workspace = "/w"}, policy).decision;
  };
  CHECK(decision("write_file", "docs/api/a") == Decision::allow);
  CHECK(decision("write_file", "docs/a") == Decision::deny);
  CHECK(decision("read_file", "docs/a") == Decision::deny);  // the parent does not have it
  CHECK(decision("shell", "ls") == Decision::deny);          // the child does not have it
  CHECK(general_decision("shell", Access::changes, "/w", policy) == Decision::deny);
  CHECK(path_refusal(policy, "/w", "write_file", "docs/api/a", "/w/src/a").has_value());
  CHECK_FALSE(path_refusal(policy, "/w", "write_file", "docs/api/a", "/w/docs/api/a").has_value());
}

}  // namespace agentrt::policy
