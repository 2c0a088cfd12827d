// control/writing_test.cc: tests calls that the model is still writing, and the arguments that
// facts show.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "control/safe_args.h"
#include "control/testing/given_calls.h"
#include "schema/tools.h"

namespace agentrt::control {

using namespace schema;
using state::Given;
using state::request_of;

namespace {

Given asked() { return asked_under(policy_in(PermissionMode::bypass)); }

ReportFragments writes(std::vector<ReportFragments::WrittenCall> calls) {
  return {request_of("1"), {}, std::move(calls)};
}

// The view after the first report about a call that is being written.
Outcome writing(const std::string& tool = "shell") {
  return when(asked(), writes({{0, tool, "{\"command\":", 11}}));
}

template <class What>
Outcome then(const Outcome& before, const What& what) {
  return when(before.after, what, inputs_at(before.facts.back().at + 1));
}

}  // namespace

TEST_CASE("a call that is being written is an item that grows") {
  const Outcome first = writing();
  CHECK(first.shape() == "run.status item.started item.updated");
  CHECK(first.payload_of<ItemStarted>() ==
        ItemStarted{.kind = ItemKind::command, .tool_name = "shell"});
  CHECK(first.payload_of<ItemUpdated>() ==
        ItemUpdated{.kind = ItemKind::command, .text_bytes = 11, .preview = "{\"command\":"});
  CHECK(first.fact_of<ItemStarted>().ids.tool_call_id);
  const Outcome second = then(first, writes({{0, "shell", "{\"command\":\"ls", 14}}));
  CHECK(second.shape() == "item.updated");
  CHECK(second.fact_of<ItemUpdated>().ids.step_id == first.fact_of<ItemStarted>().ids.step_id);
}

TEST_CASE("a complete call keeps the item and the id it was written with") {
  const Outcome first = writing();
  const Ids& shown = first.fact_of<ItemStarted>().ids;
  const Outcome outcome = then(first, asks_for({"ls"}));
  CHECK(outcome.shape() == "model.completed permission.evaluated tool.started run.status");
  CHECK(outcome.payload_of<ModelCompleted>().tool_calls.at(0).tool_call_id == shown.tool_call_id);
  CHECK(outcome.fact_of<ToolStarted>().ids.step_id == shown.step_id);
}

TEST_CASE("calls that were written side by side start with their own items") {
  const Outcome first = when(asked(), writes({{0, "read_file", "{", 1}, {1, "read_file", "{", 1}}));
  ReportModelCompleted report{.request = request_of("1")};
  for (const char* path : {"a", "b"})
    report.calls.push_back({"read_file", Json{fmt::format(R"({{"path":"{}"}})", path)}});
  const Outcome outcome = then(first, report);
  CHECK(outcome.all_of<ItemStarted>().empty());
  CHECK(outcome.all_of<ToolStarted>().size() == 2);
}

TEST_CASE("if the request fails, the item fails and no call follows") {
  const Outcome outcome = then(
      writing(),
      ReportModelFailed{.request = request_of("1"), .error = {Category::provider, "gone", false}});
  CHECK(outcome.shape() ==
        "model.failed item.completed task.attempt.failed turn.failed task.failed");
  CHECK(outcome.payload_of<ItemCompleted>().status == Status::failed);
  CHECK(outcome.payload_of<ItemCompleted>().kind == ItemKind::command);
}

TEST_CASE("an interrupt and a restart end the item too") {
  const Outcome first = writing();
  const Outcome interrupted =
      then(first, InterruptTurn{.session_id = state::kSession, .thread_id = state::kThread});
  CHECK(interrupted.payload_of<ItemCompleted>().status == Status::cancelled);
  Inputs next_boot = inputs_at(first.facts.back().at + 1);
  next_boot.boot = BootId{"boot_2"};
  const Outcome restarted = when(first.after, ReportRestarted{}, next_boot);
  CHECK(restarted.payload_of<ItemCompleted>().status == Status::failed);
}

TEST_CASE("a restart during a required hook about the answer ends the items of its calls") {
  Policy policy = policy_in(PermissionMode::bypass);
  policy.hooks.push_back({.point = HookPoint::post_sampling, .on_failure = OnFailure::closed});
  const Outcome first = when(asked_under(policy), writes({{0, "shell", "{", 1}}));
  const Outcome hooked = then(first, asks_for({"ls"}));
  REQUIRE(turn_of(hooked.after).hook.has_value());
  Inputs next_boot = inputs_at(hooked.facts.back().at + 1);
  next_boot.boot = BootId{"boot_2"};
  const Outcome outcome = when(hooked.after, ReportRestarted{}, next_boot);
  CHECK(outcome.shape() ==
        "hook.failed item.completed task.attempt.failed turn.failed task.failed");
}

TEST_CASE("an answer without the call, or with another one, ends the item") {
  const Outcome without = then(writing(), asks_for({}));
  CHECK(without.payload_of<ItemCompleted>().status == Status::failed);
  const Outcome other = then(writing("read_file"), asks_for({"ls"}));
  CHECK(other.shape() ==
        "model.completed item.completed item.started permission.evaluated tool.started run.status");
}

TEST_CASE("reports that do not fit are ignored") {
  CHECK(when(asked(), writes({{3, "shell", "", 1}})).shape() == "unchanged");
  CHECK(then(writing(), writes({{0, "other", "", 1}})).shape() == "unchanged");
}

TEST_CASE("tools that become known during a turn are in its catalogue") {
  ReportToolsListed report{TurnId{"turn_1"}, {{.tool_name = "mcp__a__b"}}, {{"c", "too slow"}}};
  const Outcome outcome = when(asked(), report);
  CHECK(outcome.shape() == "tool.catalog.resolved");
  CHECK(outcome.payload_of<ToolCatalogResolved>().tools->back().tool_name == "mcp__a__b");
  CHECK(outcome.after.server_tools.size() == 1);
  report.turn = TurnId{"turn_9"};
  CHECK(when(asked(), report).shape() == "unchanged");
}

TEST_CASE("long arguments are shortened in tool.started and follow in full") {
  const std::string text = std::string(20'000, 'x') + "\u20ac\"end";
  ReportModelCompleted report{.request = request_of("1")};
  const Json args{R"({"path":"a.txt","content":)" + to_json(text) + "}"};
  report.calls.push_back({"write_file", args});
  const Outcome outcome = when(asked(), report);
  const Json shown = *outcome.payload_of<ToolStarted>().safe_args;
  CHECK(shown.text.size() < kSafeArgsBytesMax);
  CHECK(shown.text.starts_with(R"({"path":"a.txt","content":"xxx)"));
  CHECK(shown.text.ends_with("x… (20008 bytes)\"}"));
  CHECK(check_json(shown.text).has_value());
  std::string full;
  for (const ToolArgs& part : outcome.all_of<ToolArgs>()) full += part.delta;
  CHECK(full == args.text);
}

TEST_CASE("short arguments are shown as they are, and not repeated") {
  const Outcome outcome = when(asked(), asks_for({"ls"}));
  CHECK(outcome.payload_of<ToolStarted>().safe_args->text == R"({"command":"ls"})");
  CHECK(outcome.all_of<ToolArgs>().empty());
}

TEST_CASE("arguments that cannot be shortened are omitted, and odd escapes are written plainly") {
  std::string many = "[";
  for (int i = 0; i < 1'000; ++i) many += fmt::format("{}\"text {}\"", i ? "," : "", i);
  const Json args{R"({"\u0061":)" + many + "]}"};
  CHECK(safe_args(args).text == "{}");
  const Given past = asked();
  const Inputs inputs = inputs_at(past.now());
  Facts facts{past.view(), inputs};
  add_full_args(facts, ToolScope{state::turn_scope("1"), StepId{"step_1"}, ToolCallId{"call_1"}},
                args);
  REQUIRE(facts.list().size() == 1);
  CHECK(std::get<ToolArgs>(facts.list()[0].payload).delta == R"({"a":)" + many + "]}");
}

}  // namespace agentrt::control
