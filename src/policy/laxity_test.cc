#include "policy/laxity.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "policy/permission.h"

namespace agentrt::policy {
namespace {

using schema::Decision;
using schema::PermissionMode;
using schema::SandboxMode;

template <class E>
std::vector<E> every() {
  std::vector<E> out;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>(
      [&](auto each) { out.push_back(each.value); });
  return out;
}

// What calls get, by sandbox: read_only, workspace_write, full_access.
struct Row {
  PermissionMode mode;
  std::array<Decision, 3> reads, writes, runs, calls_server;
};

constexpr std::array<Decision, 3> all(Decision decision) { return {decision, decision, decision}; }

const std::vector<Row>& table() {
  using enum Decision;
  using enum PermissionMode;
  static const std::vector<Row> kRows = {
      {default_, all(allow), all(ask), all(ask), all(ask)},
      {untrusted, all(ask), all(ask), all(ask), all(ask)},
      {on_request, all(allow), {ask, allow, allow}, {sandboxed, sandboxed, ask}, all(ask)},
      {on_failure, all(allow), {ask, allow, allow}, {sandboxed, sandboxed, ask}, all(ask)},
      {never, all(allow), all(unavailable), all(unavailable), all(unavailable)},
      {plan, all(allow), all(deny), all(deny), all(deny)},
      {auto_, all(allow), {ask, allow, allow}, all(ask), all(ask)},
      {bypass, all(allow), all(allow), all(allow), all(allow)},
  };
  return kRows;
}

// Where nobody can be asked, what would be asked is unavailable.
Decision without_person(Decision decision) {
  return decision == Decision::ask ? Decision::unavailable : decision;
}

}  // namespace

TEST_CASE("a tool gets what the table says, in every mode, sandbox and kind of run") {
  REQUIRE(table().size() == every<PermissionMode>().size());
  REQUIRE(every<SandboxMode>().size() == 3);
  const Asked command{.tool = "shell", .text = "x-unknown", .cwd = "/w", .workspace = "/w"};
  for (const Row& row : table())
    for (const SandboxMode sandbox : every<SandboxMode>())
      for (const Interactive interactive : {Interactive::no, Interactive::yes}) {
        CAPTURE(schema::name_of(row.mode));
        CAPTURE(schema::name_of(sandbox));
        const auto at = static_cast<std::size_t>(sandbox);
        const Effective policy{.mode = row.mode, .interactive = interactive, .sandbox = sandbox};
        const auto expected = [&](Decision decision) {
          return interactive == Interactive::yes ? decision : without_person(decision);
        };
        const auto general = [&](const char* tool, Access access) {
          return general_decision(tool, access, "/w", policy);
        };
        CHECK(general("read_file", Access::read_only) == expected(row.reads[at]));
        CHECK(general("write_file", Access::changes) == expected(row.writes[at]));
        CHECK(general("shell", Access::changes) == expected(row.runs[at]));
        CHECK(general("mcp__a__b", Access::changes) == expected(row.calls_server[at]));
        CHECK(general("update_plan", Access::changes) == Decision::allow);
        // The same as a call that no rule and no classifier knows.
        CHECK(judge(command, policy).decision == expected(row.runs[at]));
      }
}

TEST_CASE("rules about all commands count in what the tool gets, those about some do not") {
  const auto under = [](PermissionMode mode, std::vector<schema::PolicyRule> rules,
                        Interactive interactive = Interactive::yes) {
    const Effective policy{.rules = std::make_shared<const Rules>(*compile(rules)),
                           .mode = mode,
                           .interactive = interactive};
    return general_decision("shell", Access::changes, "/w", policy);
  };
  using enum schema::RuleEffect;
  using enum schema::RuleOrigin;
  const auto standard = PermissionMode::default_;
  CHECK(under(standard, {{allow, "shell", user}}) == Decision::allow);
  CHECK(under(standard, {{allow, "shell(ls:*)", user}}) == Decision::ask);
  CHECK(under(standard, {{allow, "shell(*, outside)", user}}) == Decision::allow);
  CHECK(under(PermissionMode::bypass, {{deny, "shell(rm:*)", user}}) == Decision::allow);
  CHECK(under(PermissionMode::bypass, {{deny, "shell(*, outside)", user}}) == Decision::allow);
  CHECK(under(PermissionMode::bypass, {{ask, "shell", user}}) == Decision::ask);
  CHECK(under(PermissionMode::bypass, {{ask, "shell", user}}, Interactive::no) ==
        Decision::unavailable);
  CHECK(under(PermissionMode::bypass, {{allow, "shell", user}, {deny, "shell", user}}) ==
        Decision::deny);
  CHECK(under(PermissionMode::plan, {{allow, "shell", user}}) == Decision::deny);
  CHECK(under(PermissionMode::plan, {{ask, "shell", user}}) == Decision::deny);
}

TEST_CASE("a mode that is at most as lax permits nothing that the other does not") {
  const std::vector<std::pair<PermissionMode, PermissionMode>> incomparable = {
      {PermissionMode::plan, PermissionMode::untrusted},
      {PermissionMode::never, PermissionMode::untrusted}};
  for (const PermissionMode a : every<PermissionMode>()) {
    CHECK(at_most_as_lax(a, a));
    CHECK(at_most_as_lax(a, PermissionMode::bypass));
    for (const PermissionMode b : every<PermissionMode>()) {
      CAPTURE(schema::name_of(a));
      CAPTURE(schema::name_of(b));
      const bool known = std::ranges::any_of(incomparable, [&](const auto& pair) {
        return pair == std::pair(a, b) || pair == std::pair(b, a);
      });
      CHECK((at_most_as_lax(a, b) || at_most_as_lax(b, a)) == !known);
    }
  }
  for (const PermissionMode mode :
       {PermissionMode::plan, PermissionMode::never, PermissionMode::untrusted})
    CHECK(at_most_as_lax(mode, PermissionMode::default_));
  CHECK(!at_most_as_lax(PermissionMode::bypass, PermissionMode::auto_));
  CHECK(at_most_as_lax(SandboxMode::read_only, SandboxMode::full_access));
  CHECK(at_most_as_lax(SandboxMode::read_only, SandboxMode::workspace_write));
  CHECK(at_most_as_lax(SandboxMode::workspace_write, SandboxMode::full_access));
  CHECK(!at_most_as_lax(SandboxMode::full_access, SandboxMode::workspace_write));
  CHECK(!at_most_as_lax(SandboxMode::workspace_write, SandboxMode::read_only));
}

TEST_CASE("a turn approves in advance when it is laxer than the standard ones") {
  std::vector<std::optional<PermissionMode>> modes = {std::nullopt};
  for (const PermissionMode mode : every<PermissionMode>()) modes.emplace_back(mode);
  std::vector<std::optional<SandboxMode>> sandboxes = {std::nullopt};
  for (const SandboxMode sandbox : every<SandboxMode>()) sandboxes.emplace_back(sandbox);
  for (const auto& mode : modes)
    for (const auto& sandbox : sandboxes) {
      const bool lax_mode = mode == PermissionMode::on_request ||
                            mode == PermissionMode::on_failure || mode == PermissionMode::auto_ ||
                            mode == PermissionMode::bypass;
      CHECK(approves_in_advance({.mode = mode, .sandbox = sandbox}) ==
            (lax_mode || sandbox == SandboxMode::full_access));
    }
}

}  // namespace agentrt::policy
