// control/hooks_test.cc: what hooks hear, and what becomes of what they say.
#include <doctest/doctest.h>

#include "control/given_calls.h"

namespace agentrt::control {

using namespace schema;
using state::Given;

namespace {

Policy with_hook(HookPoint point, OnFailure on_failure = OnFailure::closed,
                 PermissionMode mode = PermissionMode::bypass) {
  Policy policy = policy_in(mode);
  policy.hooks.push_back({.point = point, .command = "./check", .on_failure = on_failure});
  return policy;
}

ReportHookEnded says(const state::Session& view, HookOutcome outcome) {
  return {turn_of(view).ids.turn, turn_of(view).hook->id, std::move(outcome)};
}

struct Heard {
  Given past;
  Outcome asked;

  explicit Heard(const Policy& policy)
      : past(asked_under(policy)), asked(when(past, asks_for({"ls"}))) {}
  Outcome ends(HookOutcome outcome) const {
    return when(asked.after, says(asked.after, std::move(outcome)), inputs_at(past.now()));
  }
};

}  // namespace

TEST_CASE("a hook is heard before its call is judged") {
  const Heard heard{with_hook(HookPoint::pre_tool_use)};
  CHECK(heard.asked.shape() == "model.completed item.started hook.started");
  CHECK(heard.asked.fact_of<HookStarted>().ids.tool_call_id == first_tool(heard.asked.after).id);
  const Outcome quiet = heard.ends({});
  CHECK(quiet.shape() == "hook.completed permission.evaluated tool.started run.status");
  CHECK(when(quiet.after, says(heard.asked.after, {}), inputs_at(heard.past.now())).shape() ==
        "unchanged");
}

TEST_CASE("what a hook blocks does not run, and the model is told why") {
  const Heard heard{with_hook(HookPoint::pre_tool_use)};
  const Outcome outcome = heard.ends({.block = true, .reason = "no ls here"});
  CHECK(outcome.shape() ==
        "hook.completed permission.evaluated tool.started tool.failed item.completed "
        "model.requested");
  CHECK(outcome.payload_of<PermissionEvaluated>().decision_source == DecisionSource::hook);
  CHECK(outcome.payload_of<ToolFailed>().error.message.find("no ls here") != std::string::npos);
}

TEST_CASE("a hook may rewrite the input, and that is what is judged and runs") {
  const Heard heard{with_hook(HookPoint::pre_tool_use)};
  const Outcome outcome = heard.ends({.updated_input = Json{R"({"command":"ls -l"})"}});
  CHECK(outcome.payload_of<ToolStarted>().safe_args->text == R"({"command":"ls -l"})");
  CHECK(outcome.payload_of<HookCompleted>().updated_input_ref.has_value());
  const Outcome wrong = heard.ends({.updated_input = Json{R"({"cmd":"ls -l"})"}});
  CHECK(wrong.payload_of<ToolFailed>().error.message == "cmd: unknown member");
  const Outcome broken = heard.ends({.updated_input = Json{"7"}});
  CHECK(broken.payload_of<HookFailed>().on_failure == OnFailure::closed);
}

TEST_CASE("a hook that fails closed stops its call; one that fails open is warned about") {
  const HookOutcome failed{.failure = Failure{Category::timeout, "too slow", false}};
  const Heard closed{with_hook(HookPoint::pre_tool_use)};
  const Outcome stopped = closed.ends(failed);
  CHECK(stopped.shape() ==
        "hook.failed permission.evaluated tool.started tool.failed item.completed "
        "model.requested");
  const Heard open{with_hook(HookPoint::pre_tool_use, OnFailure::open)};
  CHECK(open.ends(failed).shape() ==
        "hook.failed runtime.warning permission.evaluated tool.started run.status");
}

TEST_CASE("a hook's allow spares the question where only the mode asks") {
  const Heard heard{
      with_hook(HookPoint::permission_request, OnFailure::closed, PermissionMode::default_)};
  CHECK(heard.asked.shape() == "model.completed item.started hook.started");
  const Outcome allowed = heard.ends({.decision = schema::Decision::allow});
  CHECK(allowed.shape() == "hook.completed permission.evaluated tool.started run.status");
  const Outcome silent = heard.ends({});
  CHECK(silent.shape() == "hook.completed");
  const Outcome asked = when(silent.after, inspected_of(silent.after), inputs_at(heard.past.now()));
  CHECK(asked.shape() ==
        "permission.evaluated permission.requested action.required task.waiting run.status");
}

TEST_CASE("hooks at the start may stop the turn before a model is asked") {
  Given past = Given{}.session().thread_started().running("1");
  ReportPrepared report{.turn = state::turn_ids("1").turn};
  report.candidates = {{.name = "main", .provider = "script", .model = "play.jsonl"}};
  report.default_model = "main";
  report.policy = with_hook(HookPoint::user_prompt_submit);
  report.policy.hooks.push_back({.point = HookPoint::session_start, .command = "./greet"});
  const Outcome first = when(past, report);
  CHECK(first.shape().ends_with("hook.started"));
  CHECK(first.payload_of<HookStarted>().point == HookPoint::session_start);
  const Inputs inputs = inputs_at(past.now());
  const Outcome second = when(first.after, says(first.after, {}), inputs);
  CHECK(second.shape() == "hook.completed hook.started");
  CHECK(second.payload_of<HookStarted>().point == HookPoint::user_prompt_submit);
  CHECK(when(second.after, says(second.after, {}), inputs).shape() ==
        "hook.completed model.requested");
  const Outcome blocked =
      when(second.after, says(second.after, {.block = true, .reason = "no"}), inputs);
  CHECK(blocked.shape() == "hook.completed task.attempt.failed turn.failed task.failed");
}

TEST_CASE("a hook at the end may send the turn on, so often and no more") {
  const Given past = asked_under(with_hook(HookPoint::stop));
  ReportModelCompleted report{.request = state::request_of("1")};
  Outcome outcome = when(past, report);
  for (int i = 0; i < 3; ++i) {
    CHECK(outcome.shape() == "model.completed hook.started");
    outcome = when(outcome.after, says(outcome.after, {.block = true, .reason = "not yet"}),
                   inputs_at(past.now()));
    CHECK(outcome.shape() == "hook.completed model.requested");
    report.request = turn_of(outcome.after).call->id;
    outcome = when(outcome.after, report, inputs_at(past.now()));
  }
  CHECK(outcome.shape() == "model.completed task.attempt.completed turn.completed task.completed");
}

TEST_CASE("a hook that a restart cut off is not run again") {
  const Heard heard{with_hook(HookPoint::pre_tool_use)};
  Inputs later = inputs_at(heard.past.now());
  later.boot = BootId{"boot_2"};
  const Outcome restarted = when(heard.asked.after, Report{ReportRestarted{}}, later);
  CHECK(restarted.shape() == "hook.failed task.blocked run.status thread.updated");
  CHECK_FALSE(turn_of(restarted.after).hook.has_value());
  CHECK(first_tool(restarted.after).said.size() == 1);
  CHECK(first_tool(restarted.after).pre_hooks == 1);
}

}  // namespace agentrt::control
