#include "control/subagents/subagents.h"

#include <doctest/doctest.h>

#include "control/testing/given_calls.h"
#include "tools/spawn_subagent.h"
#include "tools/wait_subagents.h"

namespace agentrt::control {

using namespace schema;

namespace {

const Timestamp kNow = state::kStart + 1'000;

Inputs inputs_with(std::uint64_t seed) {
  Inputs inputs = inputs_at(kNow);
  inputs.ids = FreshIds{kNow, seed};
  return inputs;
}

SpawnSubagent spawn_command(const ThreadId& parent = state::kThread) {
  SpawnSubagent command;
  command.session_id = state::kSession;
  command.thread_id = parent;
  command.role = "reviewer";
  command.prompt = "Look.";
  return command;
}

// A session whose parent turn waits for its model, and a subagent that was spawned by a client.
Outcome family(PermissionMode mode = PermissionMode::default_) {
  return when(asked_under(policy_in(mode)).view(), spawn_command(), inputs_with(1));
}

const state::Subagent& child_of(const state::Session& view) {
  return view.subagents.begin()->second;
}
const state::Turn& turn_of_child(const state::Session& view) {
  return *view.threads.at(child_of(view).thread).active;
}

// The child's turn is prepared and asks its model.
state::Session asking(state::Session view) {
  const state::Turn turn = turn_of_child(view);
  const TurnScope scope{state::kSession, turn.ids};
  const auto add = [&](Draft draft) {
    state::fold(view, Fact{view.sequence + 1, kNow, draft.ids, draft.payload});
  };
  add({scope, ContextResolved{.cwd = "/w"}});
  add({scope, RoutingSingleCandidate{{.selected_provider = "script",
                                      .selected_model = "m",
                                      .selected_name = "main",
                                      .candidate_count = 1}}});
  add({ModelScope{scope, ModelRequestId{"mreq_child"}},
       ModelRequested{.model_name = "main", .number = 1, .boot_id = state::kBoot}});
  return view;
}

ReportModelCompleted answers(const std::string& request, const std::string& text) {
  ReportModelCompleted report{.request = ModelRequestId{request}};
  report.text = text;
  report.text_bytes = text.size();
  return report;
}

ReportModelCompleted calls(const std::string& request, std::string_view tool, std::string args) {
  ReportModelCompleted report{.request = ModelRequestId{request}};
  report.calls.push_back({std::string(tool), {std::move(args)}});
  return report;
}

}  // namespace

TEST_CASE("a client delegates: the child's thread, task and turn start in one append") {
  const Outcome spawned = family();
  CHECK(spawned.shape() ==
        "thread.started task.created turn.submitted task.delegated subagent.spawned task.started "
        "task.attempt.started turn.started run.status");
  const auto reply = spawned.reply<DelegationReply>();
  CHECK(reply.status == ChildStatus::running);
  CHECK(reply.sequence == spawned.after.sequence);
  const Fact& fact = spawned.fact_of<SubagentSpawned>();
  CHECK(fact.ids.thread_id == state::kThread);
  CHECK(fact.ids.turn_id == state::turn_ids("1").turn);  // the parent's turn is open
  CHECK(spawned.fact_of<TaskDelegated>().ids.task_id == reply.task_id);  // a client delegated
  CHECK(spawned.payload_of<TurnSubmitted>().source == "subagent");
  CHECK(child_of(spawned.after).open == 1);
  CHECK(spawned.after.threads.at(reply.thread_id).subagent == reply.subagent_id);
}

TEST_CASE("a child cannot be given more than its parent has") {
  const state::Session view = asked_under(policy_in(PermissionMode::never)).view();
  SpawnSubagent command = spawn_command();
  command.mode = PermissionMode::default_;
  CHECK(when(view, command, inputs_with(1)).shape() == "refused: forbidden");
  command.mode = PermissionMode::untrusted;  // not comparable with never
  const Outcome refused = when(view, command, inputs_with(1));
  CHECK(refused.shape() == "refused: forbidden");
  CHECK(refused.refusal().details == R"({"member":"mode","parent":"never"})");
  command.mode = PermissionMode::plan;
  command.sandbox = SandboxMode::full_access;
  CHECK(when(view, command, inputs_with(1)).shape() == "refused: forbidden");
  command.sandbox = SandboxMode::read_only;
  command.write_roots = std::vector<std::string>{"../elsewhere"};
  CHECK(when(view, command, inputs_with(1)).shape() == "refused: forbidden");
  command.write_roots = std::vector<std::string>{"docs"};
  const Outcome spawned = when(view, command, inputs_with(1));
  CHECK(spawned.payload_of<SubagentSpawned>().write_roots == std::vector<std::string>{"/w/docs"});
}

TEST_CASE("the number of running subagents and their depth are limited") {
  Settings settings = usual_settings();
  settings.subagents_running_max = 2;
  settings.subagent_depth_max = 1;
  Inputs inputs = inputs_with(2);
  inputs.settings = &settings;
  const Outcome first = family();
  const Outcome deep = when(first.after, spawn_command(child_of(first.after).thread), inputs);
  CHECK(deep.shape() == "refused: limit_exceeded");
  CHECK(deep.refusal().message.contains("limits.subagent_depth"));
  const Outcome second = when(first.after, spawn_command(), inputs);
  REQUIRE(second.after.subagents.size() == 2);
  inputs.ids = FreshIds{kNow, 3};
  const Outcome third = when(second.after, spawn_command(), inputs);
  CHECK(third.shape() == "refused: limit_exceeded");
  CHECK(third.refusal().message.contains("limits.subagents_running"));
}

TEST_CASE("an idle subagent makes room for another") {
  Settings settings = usual_settings();
  settings.subagents_kept_max = 1;
  const Outcome done =
      when(asking(family().after), answers("mreq_child", "Found."), inputs_with(4));
  Inputs inputs = inputs_with(5);
  inputs.settings = &settings;
  const Outcome next = when(done.after, spawn_command(), inputs);
  CHECK(next.shape().starts_with("thread.updated subagent.closed thread.started"));
  CHECK(next.after.subagents.size() == 1);
}

TEST_CASE("the parent learns how its child ends, and its wait ends with it") {
  // The parent waits for its child.
  Inputs inputs = inputs_with(6);
  const Outcome waiting =
      when(asking(family().after), calls("mreq_1", tools::kWaitSubagents.name, "{}"), inputs);
  CHECK(waiting.shape().contains("tool.started run.status"));
  CHECK_FALSE(waiting.shape().contains("tool.result"));
  const Outcome done = when(waiting.after, answers("mreq_child", "Found."), inputs_with(7));
  CHECK(done.shape().contains("turn.completed task.completed subagent.completed tool.result"));
  CHECK(done.shape().ends_with("model.requested"));  // the parent continues
  const auto& result = done.payload_of<ToolResult>();
  CHECK(result.preview->contains(R"("message":"Found.")"));
  CHECK(result.preview->contains(R"("timedOut":false)"));
  CHECK(done.fact_of<SubagentCompleted>().ids.turn_id == state::turn_ids("1").turn);
  CHECK(child_of(done.after).status == ChildStatus::completed);
  CHECK(child_of(done.after).open == 0);
}

TEST_CASE("a wait that times out returns the present state") {
  const Outcome waiting = when(asking(family().after),
                               calls("mreq_1", tools::kWaitSubagents.name, "{}"), inputs_with(6));
  const state::Turn& parent = *waiting.after.threads.at(state::kThread).active;
  const Outcome due =
      when(waiting.after, ReportWaitDue{parent.ids.turn, parent.tools.front().id}, inputs_with(7));
  CHECK(due.payload_of<ToolResult>().preview->contains(R"("timedOut":true)"));
  CHECK(due.payload_of<ToolResult>().is_error == false);
}

TEST_CASE("a turn spawns a child in the append of its tool result, if the policy lets it") {
  const std::string args = R"({"role":"tester","prompt":"Test it."})";
  const Outcome made = when(asked_under(policy_in(PermissionMode::bypass)).view(),
                            calls("mreq_1", tools::kSpawnSubagent.name, args), inputs_with(8));
  CHECK(made.shape().contains("subagent.spawned task.started"));
  CHECK(made.shape().contains("tool.result item.completed model.requested"));
  CHECK(made.fact_of<TaskDelegated>().ids.task_id == state::turn_ids("1").task);
  const Outcome asked = when(asked_under(policy_in(PermissionMode::default_)).view(),
                             calls("mreq_1", tools::kSpawnSubagent.name, args), inputs_with(8));
  CHECK_FALSE(asked.shape().contains("subagent.spawned"));
  CHECK_FALSE(asked.shape().contains("tool.started"));  // a person is asked first
}

TEST_CASE("a child is judged by the policy of its parent as well, also by a later, stricter one") {
  Outcome spawned = family(PermissionMode::bypass);
  const state::Session before = asking(spawned.after);
  policy::RuleSets sets;
  const auto decided = [&](const state::Session& view) {
    const state::Turn& turn = turn_of_child(view);
    state::ToolCall call;
    call.tool = "shell";
    call.args = {R"({"command":"make"})"};
    return judge_call(view, effective_policy(view, turn, "/home", sets), call).decision;
  };
  CHECK(decided(before) == Decision::allow);
  state::Session stricter = before;
  stricter.threads.at(state::kThread).active->options.mode = PermissionMode::plan;
  stricter.threads.at(state::kThread).active->options.sandbox = SandboxMode::read_only;
  CHECK(decided(stricter) == Decision::deny);
  const policy::Effective policy =
      effective_policy(stricter, turn_of_child(stricter), "/home", sets);
  CHECK(policy.sandbox == SandboxMode::read_only);
  CHECK(policy.mode == PermissionMode::plan);
}

TEST_CASE("a turn keeps its policy while the turn of a child is prepared under another") {
  const Outcome spawned = family();
  ReportPrepared report;
  report.turn = turn_of_child(spawned.after).ids.turn;
  report.policy = policy_in(PermissionMode::plan);
  const Outcome prepared = when(spawned.after, report, inputs_with(9));
  const state::Session& view = prepared.after;
  CHECK(state::policy_of(view, child_of(view).thread).mode == PermissionMode::plan);
  CHECK(state::policy_of(view, state::kThread).mode == PermissionMode::default_);
}

TEST_CASE("interrupting the parent ends its children, unless they are kept") {
  const state::Session view = asking(family().after);
  InterruptTurn command{.session_id = state::kSession};
  const Outcome both = when(view, command, inputs_with(11));
  CHECK(both.reply<InterruptTurnReply>().turn_ids.size() == 2);
  const Fact& failed = both.fact_of<SubagentFailed>();
  CHECK(failed.ids.turn_id.empty());  // the parent's turn has ended
  CHECK(std::get<SubagentFailed>(failed.payload).error->category == Category::cancelled);
  // The reply names the last fact of the command itself; what its parents learn follows.
  CHECK(both.reply<InterruptTurnReply>().sequence + 1 == failed.sequence);
  command.subagents = SubagentKeep::keep;
  const Outcome one = when(view, command, inputs_with(12));
  CHECK(one.reply<InterruptTurnReply>().turn_ids.size() == 1);
  CHECK(child_of(one.after).status == ChildStatus::running);
  // Without a parent that it interrupts, a bare interrupt leaves children alone.
  CHECK(when(one.after, InterruptTurn{.session_id = state::kSession}, inputs_with(13)).shape() ==
        "unchanged");
}

TEST_CASE("after a restart a child is blocked, and resumes with its parent's thread or singly") {
  Inputs inputs = inputs_with(14);
  inputs.boot = BootId{"boot_later"};
  const Outcome restarted = when(asking(family().after), Report{ReportRestarted{}}, inputs);
  CHECK(restarted.payload_of<SubagentStatus>().status == Status::blocked);
  CHECK(child_of(restarted.after).status == ChildStatus::blocked);
  CHECK(child_of(restarted.after).reason == "restart");
  ResumeThread resume{.session_id = state::kSession, .thread_id = state::kThread};
  const Outcome both = when(restarted.after, resume, inputs);
  CHECK(both.all_of<TaskResumed>().size() == 2);
  CHECK(child_of(both.after).status == ChildStatus::running);
  ResumeSubagent single;
  single.subagent_id = child_of(restarted.after).id;
  const Outcome one = when(restarted.after, single, inputs);
  CHECK(one.all_of<TaskResumed>().size() == 1);
  CHECK(one.reply<SubagentReply>().status == ChildStatus::running);
}

TEST_CASE("closing is final, and closes the subagents below first") {
  const Outcome first = family();
  const ThreadId thread = child_of(first.after).thread;
  const SubagentId id = child_of(first.after).id;
  const Outcome second = when(first.after, spawn_command(thread), inputs_with(15));
  REQUIRE(second.after.subagents.size() == 2);
  CloseSubagent close;
  close.subagent_id = id;
  const Outcome closed = when(second.after, close, inputs_with(16));
  CHECK(closed.all_of<SubagentClosed>().size() == 2);
  CHECK(closed.all_of<SubagentFailed>().size() == 2);
  CHECK(closed.facts.back().ids.subagent_id == id);
  CHECK(closed.after.subagents.empty());
  SendSubagentInput input;
  input.subagent_id = id;
  input.input = {text_part("more")};
  Inputs inputs = inputs_with(17);
  inputs.named.subagent.emplace();
  CHECK(when(closed.after, input, inputs).shape() == "refused: conflict");
  SubmitTurn direct;
  direct.session_id = state::kSession;
  direct.thread_id = thread;
  direct.input = {text_part("more")};
  Inputs late = inputs_with(18);
  late.named.thread_closed = true;  // as the lane reads it: the view has forgotten the thread
  CHECK(when(closed.after, direct, late).shape() == "refused: conflict");
}

TEST_CASE("further input waits behind the running delegation") {
  SendSubagentInput input;
  const state::Session view = asking(family().after);
  input.subagent_id = child_of(view).id;
  input.input = {text_part("more")};
  const Outcome queued = when(view, input, inputs_with(19));
  CHECK(queued.reply<DelegationReply>().status == ChildStatus::queued);
  CHECK(child_of(queued.after).open == 2);
  const Outcome next = when(queued.after, answers("mreq_child", "First."), inputs_with(20));
  CHECK(next.shape().ends_with("subagent.completed subagent.status"));
  CHECK(child_of(next.after).status == ChildStatus::running);
  CHECK(child_of(next.after).open == 1);
}

TEST_CASE("a request of a child is reported to its parent with the action") {
  const Outcome asked =
      when(asking(family().after), calls("mreq_child", "shell", R"({"command":"make"})"),
           inputs_with(21));
  state::Session view = asked.after;
  const state::Turn& turn = turn_of_child(view);
  ReportInspected report{turn.ids.turn, turn.tools.front().id, {}, {}};
  report.binding.cwd = "/w";
  const Outcome waiting = when(view, report, inputs_with(22));
  const auto& status = waiting.payload_of<SubagentStatus>();
  CHECK(status.status == Status::waiting_permission);
  CHECK(status.action_id == waiting.fact_of<ActionRequired>().ids.action_id);
  CHECK(child_of(waiting.after).status == ChildStatus::waiting_permission);
}

}  // namespace agentrt::control
