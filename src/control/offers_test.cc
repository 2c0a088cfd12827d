// control/offers_test.cc: which scopes and rules a permission request offers, and that an answer
// has one of them.
#include <doctest/doctest.h>

#include "control/testing/given_calls.h"

namespace agentrt::control {

using namespace schema;
using state::Given;
using Texts = std::vector<std::string>;

namespace {

const Texts kAll{"once", "session", "always"};

// A turn that waits for a person to allow its first call.
struct Asked {
  Given past;
  state::Session view;

  explicit Asked(const ReportModelCompleted& calls,
                 Policy policy = policy_in(PermissionMode::default_),
                 const std::function<void(ReportInspected&)>& seen = {})
      : past(asked_under(std::move(policy))) {
    const state::Session begun = when(past, calls).after;
    ReportInspected look = inspected_of(begun);
    if (seen) seen(look);
    view = when(begun, look, inputs()).after;
    REQUIRE(turn_of(view).action);
  }
  explicit Asked(const std::string& command, Policy policy = policy_in(PermissionMode::default_))
      : Asked(asks_for({command}), std::move(policy)) {}

  Inputs inputs() const { return inputs_at(past.now()); }
  const ActionRequired& required() const { return turn_of(view).action->required; }
  Outcome answer(AnswerScope scope, std::optional<std::string> rule = {}) const {
    RespondAction command = answer_to(view, "allow");
    command.scope = scope;
    command.rule = std::move(rule);
    return when(view, Command{command}, inputs());
  }
};

Policy with_rule(RuleEffect effect, std::string rule) {
  Policy policy = policy_in(PermissionMode::default_);
  policy.rules = {{effect, std::move(rule), RuleOrigin::user}};
  return policy;
}

ReportModelCompleted leaves_sandbox_for(const std::string& command) {
  ReportModelCompleted report = asks_for({command});
  report.calls.front().args.text =
      R"({"command":)" + to_json(command) + R"(,"outsideSandbox":true,"justification":"j"})";
  return report;
}

}  // namespace

TEST_CASE("a question offers the exact text and the prefix of the command") {
  const Asked asked("git log --oneline");
  CHECK(asked.required().scopes == kAll);
  CHECK(asked.required().scope->text == R"(["once","session","always"])");
  CHECK(asked.required().rules == Texts{R"(shell("git log --oneline"))", "shell(git log:*)"});
}

TEST_CASE("a prefix is offered only if it lets the whole text run") {
  CHECK(Asked("git log | head -5").required().rules->size() == 1);
  CHECK(
      Asked("git log | head -5", with_rule(RuleEffect::allow, "shell(head:*)")).required().rules ==
      Texts{R"(shell("git log | head -5"))", "shell(git log:*)"});
  CHECK(Asked("sed -i s/a/b/ f").required().rules->back() == "shell(sed -i:*)");
  CHECK(Asked("python3 -m pytest -q").required().rules->back() == "shell(python3 -m pytest:*)");
  CHECK(Asked("python3 tool.py").required().rules->back() == "shell(python3 tool.py:*)");
  CHECK(Asked("echo $(date) > x").required().rules->size() == 1);
}

TEST_CASE("a destructive command and one with bound files offer no prefix") {
  CHECK(Asked("rm x").required().rules == Texts{R"(shell("rm x"))"});
  const Asked bound(asks_for({"make x"}), policy_in(PermissionMode::default_),
                    [](ReportInspected& look) { look.binding.files = {{"/w/x", "sha256:aa"}}; });
  CHECK(bound.required().rules == Texts{R"(shell("make x"))"});
  CHECK(bound.required().scopes == kAll);
}

TEST_CASE("leaving the sandbox is offered once only, and says as whom it runs") {
  const Asked asked(leaves_sandbox_for("npm publish"));
  CHECK(asked.required().scopes == Texts{"once"});
  CHECK_FALSE(asked.required().rules);
  CHECK(asked.required().outside_sandbox == true);
  CHECK(asked.required().user == usual_settings().user);
  CHECK(asked.required().network == false);
  for (const auto scope : {AnswerScope::session, AnswerScope::always}) {
    const Error error = asked.answer(scope).refusal();
    CHECK(error.code == Code::invalid_params);
    CHECK(error.details == R"({"scopes":["once"]})");
  }
  CHECK(asked.answer(AnswerScope::once).shape().starts_with("action.resolved"));
}

TEST_CASE("where a rule asks each time, no lasting answer is offered") {
  const Asked asked("git push", with_rule(RuleEffect::ask, "shell(git push:*)"));
  CHECK(asked.required().scopes == Texts{"once"});
  CHECK(asked.answer(AnswerScope::session).shape() == "refused: invalid_params");
}

TEST_CASE("an answer stores the rule that it names, and the exact text without one") {
  const Asked asked("git log -1");
  const Outcome exact = asked.answer(AnswerScope::session);
  REQUIRE(exact.after.granted.size() == 1);
  CHECK(exact.after.granted[0].rule == R"(shell("git log -1"))");
  CHECK(exact.after.granted[0].cwd == "/w");
  CHECK(exact.after.granted[0].granted_at == asked.inputs().now);
  CHECK(exact.payload_of<ActionResolved>().rule == R"(shell("git log -1"))");

  const Outcome prefix = asked.answer(AnswerScope::always, "shell(git log:*)");
  REQUIRE(prefix.after.granted.size() == 1);
  CHECK(prefix.after.granted[0].rule == "shell(git log:*)");
  CHECK_FALSE(prefix.after.granted[0].cwd);
  CHECK(prefix.after.granted[0].origin == RuleOrigin::always);
  CHECK(prefix.payload_of<ActionResolved>().rule == "shell(git log:*)");
  CHECK(prefix.payload_of<PolicyChanged>().workspace == "/w");

  CHECK_FALSE(asked.answer(AnswerScope::once).payload_of<ActionResolved>().rule);
}

TEST_CASE("a rule that was not offered, or without a scope for it, is refused") {
  const Asked asked("git log -1");
  CHECK(asked.answer(AnswerScope::session, "shell").refusal().message ==
        "rule: expected one of those that the action offers");
  CHECK(asked.answer(AnswerScope::session, "shell(git:*)").shape() == "refused: invalid_params");
  CHECK(asked.answer(AnswerScope::once, "shell(git log:*)").shape() == "refused: invalid_params");
}

TEST_CASE("a long exact rule is not listed, and still stored") {
  const std::string command = "echo " + std::string(2'000, 'x');
  const Asked asked(command);
  CHECK(asked.required().rules == Texts{"shell(echo:*)"});
  const Outcome outcome = asked.answer(AnswerScope::session);
  CHECK(outcome.after.granted[0].rule == R"(shell(")" + command + R"("))");
}

TEST_CASE("a command that creates files is not called destructive") {
  const auto seen = [](std::vector<std::string> absent) {
    return [absent](ReportInspected& look) { look.absent = absent; };
  };
  const auto destructive = [&](const std::string& text, std::vector<std::string> absent) {
    const Asked asked(asks_for({text}), policy_in(PermissionMode::default_), seen(absent));
    return asked.required().destructive.value_or(false);
  };
  CHECK_FALSE(destructive("echo x > new.txt", {"/w/new.txt"}));
  CHECK(destructive("echo x > old.txt", {}));
  CHECK(destructive("echo x > new.txt; echo y > old.txt", {"/w/new.txt"}));
  CHECK(destructive("rm old; echo x > new.txt", {"/w/new.txt"}));
}

TEST_CASE("a rule of the folder is taken back in any session, and counts no more") {
  const Asked asked("git log -1");
  const state::Session granted = asked.answer(AnswerScope::always).after;
  SetPolicy remove;
  remove.session_id = granted.id;
  remove.remove = {R"(shell("git log -1"))"};
  CHECK(when(granted, Command{remove}, asked.inputs()).after.granted.empty());

  // In another session of the folder it is part of the policy.
  state::Session other = asked_under(policy_in(PermissionMode::default_)).view();
  other.policy.rules = {{RuleEffect::allow, "shell(git log:*)", RuleOrigin::always}};
  remove.session_id = other.id;
  remove.remove = {"shell(git log:*)"};
  const Outcome removed = when(other, Command{remove}, asked.inputs());
  CHECK(removed.shape() == "policy.changed");
  CHECK(removed.after.policy.rules.empty());
  Inputs bound = asked.inputs();
  bound.bound = true;
  CHECK(when(other, Command{remove}, bound).shape() == "refused: not_found");
  remove.remove = {"shell(x)"};
  CHECK(when(other, Command{remove}, asked.inputs()).shape() == "refused: not_found");
}

TEST_CASE("what holds for a folder is stored in the runtime's own session") {
  SetFolderPolicy command;
  command.cwd = "/w";
  const state::Session none;
  Inputs inputs = inputs_at(Timestamp{1});
  CHECK(when(none, Command{command}, inputs).shape() == "refused: invalid_params");
  command.mode = PermissionMode::on_request;
  const Outcome mode = when(none, Command{command}, inputs);
  CHECK(mode.shape() == "session.created policy.changed");
  CHECK(mode.payload_of<PolicyChanged>().change == "mode");
  CHECK_FALSE(mode.after.mode);  // it is not the mode of that session
  command.mode.reset();
  command.remove = {"shell(git log:*)"};
  const Outcome removed = when(none, Command{command}, inputs);
  CHECK(removed.payload_of<PolicyChanged>().workspace == "/w");
  CHECK(removed.payload_of<PolicyChanged>().removed->size() == 1);
  command.cwd = "w";
  CHECK(when(none, Command{command}, inputs).shape() == "refused: invalid_params");
}

}  // namespace agentrt::control
