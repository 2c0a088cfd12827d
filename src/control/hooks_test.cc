// control/hooks_test.cc: tests the input of hooks and the effect of their answers.
#include <doctest/doctest.h>

#include "control/testing/given_calls.h"

namespace agentrt::control {

using namespace schema;
using state::Given;

namespace {

const Failure kTooSlow{Category::timeout, "too slow", false};

Policy with_hook(HookPoint point, OnFailure on_failure = OnFailure::closed,
                 PermissionMode mode = PermissionMode::bypass) {
  Policy policy = policy_in(mode);
  policy.hooks.push_back({.point = point, .command = "./check", .on_failure = on_failure});
  return policy;
}

ReportHookEnded says(const state::Session& view, HookOutcome outcome) {
  return {turn_of(view).ids.turn, turn_of(view).hook->id, std::move(outcome)};
}

struct Asked {
  Given past;
  Outcome asked;

  explicit Asked(const Policy& policy)
      : past(asked_under(policy)), asked(when(past, asks_for({"ls"}))) {}
  Outcome ends(HookOutcome outcome) const {
    return when(asked.after, says(asked.after, std::move(outcome)), inputs_at(past.now()));
  }
};

}  // namespace

TEST_CASE("a hook runs before its call is judged") {
  const Asked heard{with_hook(HookPoint::pre_tool_use)};
  CHECK(heard.asked.shape() == "model.completed item.started hook.started");
  CHECK(heard.asked.fact_of<HookStarted>().ids.tool_call_id == first_tool(heard.asked.after).id);
  const Outcome quiet = heard.ends({});
  CHECK(quiet.shape() == "hook.completed permission.evaluated tool.started run.status");
  CHECK(when(quiet.after, says(heard.asked.after, {}), inputs_at(heard.past.now())).shape() ==
        "unchanged");
}

TEST_CASE("a call that a hook blocks does not run, and the model gets the reason") {
  const Asked heard{with_hook(HookPoint::pre_tool_use)};
  const Outcome outcome = heard.ends({.block = true, .reason = "no ls here"});
  CHECK(outcome.shape() ==
        "hook.completed permission.evaluated tool.started tool.failed item.completed "
        "model.requested");
  CHECK(outcome.payload_of<PermissionEvaluated>().decision_source == DecisionSource::hook);
  CHECK(outcome.payload_of<ToolFailed>().error.message.find("no ls here") != std::string::npos);
}

TEST_CASE("a hook that allows lets no call out of the sandbox") {
  for (const HookPoint point : {HookPoint::pre_tool_use, HookPoint::permission_request}) {
    const Given past = asked_under(with_hook(point, OnFailure::closed, PermissionMode::on_request));
    ReportModelCompleted report{.request = state::request_of("1")};
    report.calls = {{"shell", {R"({"command":"ls","outsideSandbox":true})"}}};
    const Outcome started = when(past, report);
    CHECK(started.shape() == "model.completed item.started hook.started");
    const Outcome allowed = when(started.after, says(started.after, {.decision = Decision::allow}),
                                 inputs_at(past.now()));
    CHECK(allowed.shape() == "hook.completed");
    const Outcome asked = when(allowed.after, inspected_of(allowed.after), inputs_at(past.now()));
    CHECK(asked.payload_of<ActionRequired>().sandbox == SandboxMode::full_access);
  }
}

TEST_CASE("a question to the person can be blocked like any call") {
  const Given past = asked_under(with_hook(HookPoint::pre_tool_use));
  ReportModelCompleted report{.request = state::request_of("1")};
  report.calls.push_back({"ask_user", {R"({"question":"Which?"})"}});
  const Outcome heard = when(past, report);
  CHECK(when(heard.after, says(heard.after, {.block = true}), inputs_at(past.now())).shape() ==
        "hook.completed permission.evaluated tool.started tool.failed item.completed "
        "model.requested");
  CHECK(when(heard.after, says(heard.after, {}), inputs_at(past.now())).shape() ==
        "hook.completed tool.started action.required task.waiting run.status");
}

TEST_CASE("a hook may rewrite the input, and that is what is judged and runs") {
  const Asked heard{with_hook(HookPoint::pre_tool_use)};
  const Outcome outcome = heard.ends({.updated_input = Json{R"({"command":"ls -l"})"}});
  CHECK(outcome.payload_of<ToolStarted>().safe_args->text == R"({"command":"ls -l"})");
  CHECK(outcome.payload_of<HookCompleted>().updated_input_ref.has_value());
  const Outcome wrong = heard.ends({.updated_input = Json{R"({"cmd":"ls -l"})"}});
  CHECK(wrong.payload_of<ToolFailed>().error.message == "command: is required and missing");
  const Outcome broken = heard.ends({.updated_input = Json{"7"}});
  CHECK(broken.payload_of<HookFailed>().on_failure == OnFailure::closed);
}

TEST_CASE("what a hook adds for the model has a limit") {
  const Asked heard{with_hook(HookPoint::pre_tool_use)};
  const Outcome outcome = heard.ends({.additional_context = {std::string(60'000, 'x'), "y"}});
  const auto& added = *outcome.payload_of<HookCompleted>().additional_context;
  REQUIRE(added.size() == 1);
  CHECK(added[0].size() < 17'000);
  CHECK(added[0].ends_with("[cut off]"));
}

TEST_CASE("a hook that fails closed stops its call; one that fails open is warned about") {
  const HookOutcome failed{.failure = Failure{Category::timeout, "too slow", false}};
  const Asked closed{with_hook(HookPoint::pre_tool_use)};
  const Outcome stopped = closed.ends(failed);
  CHECK(stopped.shape() ==
        "hook.failed permission.evaluated tool.started tool.failed item.completed "
        "model.requested");
  const Asked open{with_hook(HookPoint::pre_tool_use, OnFailure::open)};
  CHECK(open.ends(failed).shape() ==
        "hook.failed runtime.warning permission.evaluated tool.started run.status");
}

TEST_CASE("a hook's allow spares the question where only the mode asks") {
  const Asked heard{
      with_hook(HookPoint::permission_request, OnFailure::closed, PermissionMode::default_)};
  CHECK(heard.asked.shape() == "model.completed item.started hook.started");
  const Outcome allowed = heard.ends({.decision = Decision::allow});
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

TEST_CASE("a stop hook that fails closed sends the turn on no more often than one that blocks") {
  const Given past = asked_under(with_hook(HookPoint::stop));
  ReportModelCompleted report{.request = state::request_of("1")};
  Outcome outcome = when(past, report);
  for (int i = 0; i < 3; ++i) {
    outcome =
        when(outcome.after, says(outcome.after, {.failure = kTooSlow}), inputs_at(past.now()));
    CHECK(outcome.shape() == "hook.failed model.requested");
    report.request = turn_of(outcome.after).call->id;
    outcome = when(outcome.after, report, inputs_at(past.now()));
  }
  CHECK(outcome.shape() == "model.completed task.attempt.completed turn.completed task.completed");
}

TEST_CASE("continue: false ends the turn wherever it is said, and what has begun is closed") {
  const Asked call{with_hook(HookPoint::pre_tool_use)};
  CHECK(call.ends({.continue_ = false}).shape() ==
        "hook.completed item.completed task.attempt.failed turn.failed task.failed");
  const Given past = asked_under(with_hook(HookPoint::stop));
  const Outcome stopping = when(past, ReportModelCompleted{.request = state::request_of("1")});
  CHECK(when(stopping.after, says(stopping.after, {.continue_ = false}), inputs_at(past.now()))
            .shape() == "hook.completed task.attempt.completed turn.completed task.completed");
}

TEST_CASE("a rewrite at permission_request starts the call over, once") {
  const Asked asked{
      with_hook(HookPoint::permission_request, OnFailure::closed, PermissionMode::default_)};
  const HookOutcome rewrites{.updated_input = Json{R"({"command":"ls -l"})"}};
  const Outcome first = asked.ends(rewrites);
  CHECK(first.shape() == "hook.completed hook.started");
  const Inputs inputs = inputs_at(asked.past.now());
  // Unchanged input does not count as a rewrite.
  const Outcome same = when(first.after, says(first.after, rewrites), inputs);
  CHECK(same.shape() == "hook.completed");
  CHECK(first_tool(same.after).said.empty());
  const Outcome other = when(
      first.after, says(first.after, {.updated_input = Json{R"({"command":"ls -a"})"}}), inputs);
  CHECK(other.shape() ==
        "hook.completed permission.evaluated tool.started tool.failed item.completed "
        "model.requested");
}

TEST_CASE("what a hook allowed is the input it saw, not the one that another made of it") {
  Policy policy = with_hook(HookPoint::pre_tool_use, OnFailure::closed, PermissionMode::default_);
  policy.hooks.push_back({.point = HookPoint::pre_tool_use, .command = "./second"});
  const Asked asked{policy};
  const Outcome allowed = asked.ends({.decision = Decision::allow});
  const Inputs inputs = inputs_at(asked.past.now());
  CHECK(when(allowed.after, says(allowed.after, {}), inputs).shape() ==
        "hook.completed permission.evaluated tool.started run.status");
  const Outcome rewritten = when(
      allowed.after, says(allowed.after, {.updated_input = Json{R"({"command":"rm x"})"}}), inputs);
  CHECK(rewritten.shape() == "hook.completed");  // then the user is asked
  CHECK(first_tool(rewritten.after).said.empty());
}

TEST_CASE(
    "the model gets the reason of a block after a result; a closed failure there ends the turn") {
  const Asked asked{with_hook(HookPoint::post_tool_use)};
  const Inputs inputs = inputs_at(asked.past.now());
  const Outcome ended = when(asked.asked.after, end_of(asked.asked.after, 0), inputs);
  CHECK(ended.shape() == "tool.result item.completed hook.started");
  CHECK(when(ended.after, says(ended.after, {.block = true}), inputs).shape() ==
        "hook.completed model.requested");
  CHECK(when(ended.after, says(ended.after, {.failure = kTooSlow}), inputs).shape() ==
        "hook.failed task.attempt.failed turn.failed task.failed");
}

TEST_CASE("hooks that a restart kept from hearing about a result hear about it later") {
  Policy policy = with_hook(HookPoint::post_tool_use, OnFailure::open);
  policy.hooks.push_back({.point = HookPoint::post_tool_use, .command = "./second"});
  const Asked asked{policy};
  Inputs later = inputs_at(asked.past.now());
  const Outcome ended = when(asked.asked.after, end_of(asked.asked.after, 0), later);
  later.boot = BootId{"boot_2"};
  const Outcome restarted = when(ended.after, Report{ReportRestarted{}}, later);
  CHECK(restarted.shape() == "hook.failed runtime.warning task.blocked run.status thread.updated");
  const Outcome resumed =
      when(restarted.after, Command{ResumeThread{state::kSession, state::kThread}}, later);
  ReportPrepared prepared{.turn = state::turn_ids("1").turn};
  prepared.candidates = {{.name = "main", .provider = "script", .model = "play.jsonl"}};
  prepared.default_model = "main";
  prepared.policy = policy;
  const Outcome next = when(resumed.after, prepared, later);
  CHECK(next.shape().ends_with("hook.started"));
  CHECK(next.payload_of<HookStarted>().command == "./second");
}

TEST_CASE("a restart while a hook hears about a result ends the turn if it is closed") {
  const Asked asked{with_hook(HookPoint::post_tool_use)};
  Inputs later = inputs_at(asked.past.now());
  const Outcome ended = when(asked.asked.after, end_of(asked.asked.after, 0), later);
  later.boot = BootId{"boot_2"};
  CHECK(when(ended.after, Report{ReportRestarted{}}, later).shape() ==
        "hook.failed task.attempt.failed turn.failed task.failed");
}

TEST_CASE("a hook that a restart cut off is not run again") {
  const Asked heard{with_hook(HookPoint::pre_tool_use)};
  Inputs later = inputs_at(heard.past.now());
  later.boot = BootId{"boot_2"};
  const Outcome restarted = when(heard.asked.after, Report{ReportRestarted{}}, later);
  CHECK(restarted.shape() == "hook.failed task.blocked run.status thread.updated");
  CHECK_FALSE(turn_of(restarted.after).hook.has_value());
  CHECK(first_tool(restarted.after).said.size() == 1);
  CHECK(first_tool(restarted.after).pre_hooks == 1);
}

}  // namespace agentrt::control
