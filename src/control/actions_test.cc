// control/actions_test.cc: tests what a user is asked, and the effect of each answer.
#include <doctest/doctest.h>

#include "control/testing/given_calls.h"

namespace agentrt::control {

using namespace schema;
using state::Given;

namespace {

constexpr std::string_view kAsked =
    "permission.evaluated permission.requested action.required task.waiting run.status";

// A turn that waits for approval of its commands.
struct Waiting {
  Given past = asked_under(policy_in(PermissionMode::default_));
  state::Session view;

  explicit Waiting(const std::vector<std::string>& commands = {"make test"}) {
    const Outcome completed = when(past, asks_for(commands));
    view = when(completed.after, inspected_of(completed.after), inputs()).after;
  }
  Inputs inputs() const { return inputs_at(past.now()); }
  Outcome answer(const RespondAction& command) const {
    return when(view, Command{command}, inputs());
  }
  Outcome answer(std::string decision) const {
    return answer(answer_to(view, std::move(decision)));
  }
};

Inputs after_restart(const Given& past) {
  Inputs inputs = inputs_at(past.now());
  inputs.boot = BootId{"boot_2"};
  return inputs;
}

ReportModelCompleted asks_question(const std::string& args) {
  ReportModelCompleted report{.request = state::request_of("1")};
  report.calls.push_back({"ask_user", {args}});
  return report;
}

}  // namespace

TEST_CASE("a call that no rule allows is inspected first, and then a person is asked") {
  const Given past = asked_under(policy_in(PermissionMode::default_));
  const Outcome completed = when(past, asks_for({"make test"}));
  CHECK(completed.shape() == "model.completed item.started");
  const Outcome asked = when(completed.after, inspected_of(completed.after), inputs_at(past.now()));
  CHECK(asked.shape() == kAsked);
  const auto& required = asked.payload_of<ActionRequired>();
  CHECK(required.action_type == "permission");
  CHECK(required.input->text == R"({"command":"make test"})");
  CHECK(required.cwd == "/w");
  CHECK(*required.decisions == std::vector<std::string>{"allow", "deny"});
  CHECK(required.digest == asked.payload_of<PermissionEvaluated>().digest);
  CHECK(asked.fact_of<ActionRequired>().ids.tool_call_id == first_tool(asked.after).id);
  CHECK(asked.thread().status == Status::waiting_permission);
  // A repeated inspection changes nothing, because the question is already open.
  CHECK(when(asked.after, inspected_of(asked.after), inputs_at(past.now())).shape() == "unchanged");
}

TEST_CASE("yes starts the call, which runs only as it was approved") {
  const Waiting waiting;
  const Outcome yes = waiting.answer("allow");
  CHECK(yes.shape() == "action.resolved permission.resolved task.resumed tool.started run.status");
  CHECK(yes.payload_of<ActionResolved>().decision_source == "human");
  CHECK(yes.payload_of<ActionResolved>().answered_by == "token tok_1");
  CHECK(yes.thread().status == Status::running);
  ReportProcessReady ready = ready_of(yes.after);
  ready.binding = inspected_of(yes.after).binding;
  CHECK(when(yes.after, ready, waiting.inputs()).shape() == "sandbox.applied process.started");
}

TEST_CASE("the rules of a session are compiled once per change, however often calls are judged") {
  Settings settings = usual_settings();
  settings.rule_sets = std::make_shared<policy::RuleSets>();
  Policy policy = policy_in(PermissionMode::default_);
  policy.rules = {{RuleEffect::allow, "shell(ls:*)", RuleOrigin::user},
                  {RuleEffect::deny, "shell(rm:*)", RuleOrigin::user}};
  const Given past = asked_under(policy);
  Inputs inputs = inputs_at(past.now());
  inputs.settings = &settings;
  state::Session view = when(past.view(), asks_for({"make test", "make"}), inputs).after;
  view = when(view, inspected_of(view), inputs).after;
  CHECK(settings.rule_sets->compilations() == 1);
  RespondAction command = answer_to(view, "allow");
  command.scope = AnswerScope::session;
  view = when(view, Command{command}, inputs).after;
  REQUIRE(view.granted.size() == 1);
  CHECK(settings.rule_sets->compilations() == 2);
  ReportProcessReady ready = ready_of(view);
  ready.binding = inspected_of(view).binding;
  view = when(view, ready, inputs).after;
  view = when(view, end_of(view, 0), inputs).after;
  view = when(view, inspected_of(view), inputs).after;
  REQUIRE(turn_of(view).action);
  CHECK(settings.rule_sets->compilations() == 2);
}

TEST_CASE("a world that changed since the answer lets nothing run") {
  const Waiting waiting;
  const Outcome yes = waiting.answer("allow");
  ReportProcessReady ready = ready_of(yes.after);
  ready.binding = inspected_of(yes.after, "1:3").binding;
  const Outcome refused = when(yes.after, ready, waiting.inputs());
  CHECK(refused.shape() == "permission.evaluated tool.failed item.completed model.requested");
  CHECK(refused.payload_of<ToolFailed>().error.message.starts_with("binding_mismatch"));
  ready.binding.reset();
  CHECK(when(yes.after, ready, waiting.inputs()).shape() == refused.shape());
}

TEST_CASE("a denial ends the call with the reason, and the model gets it") {
  const Waiting waiting{{"make test", "ls"}};
  RespondAction no = answer_to(waiting.view, "deny");
  no.reason = "not today";
  const Outcome outcome = waiting.answer(no);
  CHECK(outcome.shape() ==
        "action.resolved permission.resolved tool.started tool.failed item.completed task.resumed "
        "item.started");
  CHECK(outcome.payload_of<ToolFailed>().error.category == Category::denied);
  CHECK(outcome.payload_of<ToolFailed>().error.message == "denied by a person: not today");
  CHECK(outcome.thread().status == Status::running);  // it waits for nobody any more
}

TEST_CASE("an answer counts once, for what it saw, and only if it was offered") {
  const Waiting waiting;
  CHECK(waiting.answer("maybe").refusal().message == "decision: expected one of allow, deny");
  RespondAction other = answer_to(waiting.view, "allow");
  other.digest = "sha256:0";
  CHECK(waiting.answer(other).shape() == "refused: binding_mismatch");
  other.digest = turn_of(waiting.view).action->required.digest;
  CHECK(waiting.answer(other).shape().starts_with("action.resolved"));

  const RespondAction allow = answer_to(waiting.view, "allow");
  const Outcome first = waiting.answer(allow);
  Inputs later = waiting.inputs();
  CHECK(when(first.after, Command{allow}, later).shape() == "refused: not_found");
  later.named.action = ActionSnapshot{.decision = "allow", .decision_source = "human"};
  const Outcome second = when(first.after, Command{allow}, later);
  CHECK(second.shape() == "refused: conflict");
  CHECK(second.refusal().message.ends_with("has already been answered: allow"));
  later.named.action->decision = "expired";
  CHECK(when(first.after, Command{allow}, later).shape() == "refused: expired");
}

TEST_CASE("a token that is bound to the session answers for this session alone") {
  const Waiting waiting;
  Inputs bound = waiting.inputs();
  bound.bound = true;
  RespondAction command = answer_to(waiting.view, "allow");
  for (const auto scope : {AnswerScope::once, AnswerScope::session}) {
    command.scope = scope;
    CHECK(when(waiting.view, Command{command}, bound).shape().starts_with("action.resolved"));
  }
  command.scope = AnswerScope::always;
  for (const auto* decision : {"allow", "deny"}) {
    command.decision = decision;
    CHECK(when(waiting.view, Command{command}, bound).shape() == "refused: forbidden");
    CHECK(waiting.answer(command).shape().starts_with("action.resolved"));
  }
}

TEST_CASE("an answer for longer leaves a rule for this very text behind") {
  const Waiting waiting;
  RespondAction command = answer_to(waiting.view, "allow");
  command.scope = AnswerScope::session;
  const Outcome outcome = waiting.answer(command);
  CHECK(outcome.shape() ==
        "action.resolved permission.resolved policy.changed task.resumed tool.started run.status");
  REQUIRE(outcome.after.granted.size() == 1);
  CHECK(outcome.after.granted[0].effect == RuleEffect::allow);
  CHECK(outcome.after.granted[0].origin == RuleOrigin::session);
  CHECK_FALSE(outcome.payload_of<PolicyChanged>().workspace.has_value());
  command.scope = AnswerScope::always;
  CHECK(waiting.answer(command).payload_of<PolicyChanged>().workspace == "/w");
  // The same text in that session needs no approval; another one does.
  command.scope = AnswerScope::session;
  ReportProcessReady ready = ready_of(outcome.after);
  ready.binding = inspected_of(outcome.after).binding;
  const Outcome runs = when(outcome.after, ready, waiting.inputs());
  const Outcome ended = when(runs.after, end_of(runs.after, 0), waiting.inputs());
  ReportModelCompleted again = asks_for({"make test"});
  again.request = turn_of(ended.after).call->id;
  const Outcome looked = when(ended.after, again, waiting.inputs());
  CHECK(looked.shape() == "model.completed item.started");
  const Outcome held = when(looked.after, inspected_of(looked.after), waiting.inputs());
  CHECK(held.shape() == "permission.evaluated tool.started run.status");
  // The call is bound to the inspected state as if it had just been approved.
  CHECK(held.payload_of<PermissionEvaluated>().digest == first_tool(held.after).digest);
  ReportProcessReady moved = ready_of(held.after);
  moved.binding = inspected_of(held.after, "9:9").binding;
  CHECK(when(held.after, moved, waiting.inputs()).payload_of<ToolFailed>().error.category ==
        Category::denied);
  moved.binding = inspected_of(held.after).binding;
  CHECK(when(held.after, moved, waiting.inputs()).shape() == "sandbox.applied process.started");
  again.calls = asks_for({"make test; ls"}).calls;
  CHECK(when(ended.after, again, waiting.inputs()).shape() == "model.completed item.started");
}

TEST_CASE("a grant is for the folder and the files of the question") {
  const Given past = asked_under(policy_in(PermissionMode::default_));
  const Inputs inputs = inputs_at(past.now());
  const Outcome started = when(past, asks_for({"./run.sh"}));
  ReportInspected look = inspected_of(started.after);
  look.binding.files = {{"/w/run.sh", "sha256:aa"}};
  const Outcome asked = when(started.after, look, inputs);
  RespondAction yes = answer_to(asked.after, "allow");
  yes.scope = AnswerScope::session;
  const Outcome granted = when(asked.after, Command{yes}, inputs);
  REQUIRE(granted.after.granted.size() == 1);
  CHECK(granted.after.granted[0].cwd == "/w");
  REQUIRE(granted.after.granted[0].executes);
  CHECK(granted.after.granted[0].executes->front() == ExecutedFile{"/w/run.sh", "sha256:aa"});

  ReportProcessReady ready = ready_of(granted.after);
  ready.binding = look.binding;
  const Outcome runs = when(granted.after, ready, inputs);
  const Outcome ended = when(runs.after, end_of(runs.after, 0), inputs);
  ReportModelCompleted more = asks_for({"./run.sh"});
  more.request = turn_of(ended.after).call->id;
  const Outcome again = when(ended.after, more, inputs);
  look = inspected_of(again.after);
  look.binding.files = {{"/w/run.sh", "sha256:bb"}};
  const Outcome changed = when(again.after, look, inputs);
  CHECK(changed.shape() == kAsked);
  CHECK(changed.payload_of<ActionRequired>().reason->contains("/w/run.sh has changed"));
  // A new approval replaces the first.
  yes = answer_to(changed.after, "allow");
  yes.scope = AnswerScope::session;
  const Outcome anew = when(changed.after, Command{yes}, inputs);
  REQUIRE(anew.after.granted.size() == 1);
  CHECK(anew.after.granted[0].executes->front().digest == "sha256:bb");
  // The refusal names what has changed.
  ready = ready_of(anew.after);
  ready.binding = look.binding;
  ready.binding->files = {{"/w/run.sh", "sha256:cc"}};
  CHECK(when(anew.after, ready, inputs)
            .payload_of<ToolFailed>()
            .error.message.contains(
                "/w/run.sh has changed: sha256:bb was approved, it is sha256:cc"));
}

TEST_CASE("a no for longer holds in every folder") {
  const Waiting waiting;
  RespondAction command = answer_to(waiting.view, "deny");
  command.scope = AnswerScope::session;
  const Outcome outcome = waiting.answer(command);
  REQUIRE(outcome.after.granted.size() == 1);
  CHECK_FALSE(outcome.after.granted[0].cwd);
}

TEST_CASE("an answer beyond once needs room for its rule") {
  Waiting waiting;
  RespondAction command = answer_to(waiting.view, "allow");
  command.scope = AnswerScope::session;
  for (std::size_t i = 0; i < kPolicyRulesMax; ++i)
    waiting.view.granted.push_back({RuleEffect::allow, "shell(x)", RuleOrigin::session});
  CHECK(waiting.answer(command).shape() == "refused: limit_exceeded");
  command.scope = AnswerScope::once;
  CHECK(waiting.answer(command).shape().starts_with("action.resolved"));
  waiting.view.granted = {
      {RuleEffect::allow, std::string(kPolicyBytesMax, 'x'), RuleOrigin::session}};
  command.scope = AnswerScope::always;
  CHECK(waiting.answer(command).shape() == "refused: limit_exceeded");
}

TEST_CASE("what explains a decision about a long text is short, and the text itself whole") {
  std::string text;
  for (int i = 0; i < 90; ++i) text += "touch " + std::string(400, 'a') + "; ";
  const Waiting waiting{{text}};
  const ActionRequired& required = turn_of(waiting.view).action->required;
  CHECK(required.input->text.size() > text.size());
  CHECK(to_json(*required.subcommands).size() < 6'000);
  CHECK(required.subcommands->back().ends_with("more"));
  CHECK(required.reason->size() < 1'100);
}

TEST_CASE("a wait outlives a restart, and the answer alone resumes its turn") {
  const Waiting waiting;
  const Inputs later = after_restart(waiting.past);
  CHECK_FALSE(state::interrupted_work(waiting.view, later.boot));
  CHECK(when(waiting.view, Report{ReportRestarted{}}, later).shape() == "unchanged");
  const Outcome yes = when(waiting.view, Command{answer_to(waiting.view, "allow")}, later);
  CHECK(yes.shape() ==
        "action.resolved permission.resolved history.reconstructed task.resumed thread.updated "
        "run.status");
  CHECK(first_tool(yes.after).stage == state::CallStage::approved);
  const Outcome no = when(waiting.view, Command{answer_to(waiting.view, "deny")}, later);
  CHECK(no.shape() ==
        "action.resolved permission.resolved tool.started tool.failed item.completed "
        "history.reconstructed task.resumed thread.updated run.status");
}

TEST_CASE("what rules deny by the time it could start does not run, whatever was answered") {
  const Waiting waiting;
  SetPolicy deny;
  deny.session_id = state::kSession;
  deny.deny = std::vector<std::string>{"shell(make:*)"};
  const Outcome ruled = when(waiting.view, Command{deny}, waiting.inputs());
  const Outcome yes = when(ruled.after, Command{answer_to(ruled.after, "allow")}, waiting.inputs());
  CHECK(yes.shape() ==
        "action.resolved permission.resolved task.resumed permission.evaluated tool.started "
        "tool.failed item.completed model.requested");
  CHECK(yes.payload_of<ToolFailed>().error.category == Category::denied);
}

TEST_CASE("an interrupted turn takes its question back") {
  const Waiting waiting;
  InterruptTurn interrupt;
  interrupt.session_id = state::kSession;
  const Outcome outcome = when(waiting.view, Command{interrupt}, waiting.inputs());
  CHECK(outcome.shape() ==
        "action.resolved permission.resolved item.completed task.attempt.failed turn.failed "
        "task.cancelled");
  CHECK(outcome.payload_of<ActionResolved>().decision == "cancelled");
  CHECK(outcome.payload_of<PermissionResolved>().decision == Decision::deny);
}

TEST_CASE("a question that nobody answers in time is a no with a source") {
  const Waiting waiting;
  const ReportActionExpired expired{turn_of(waiting.view).action->id};
  const Outcome outcome = when(waiting.view, expired, waiting.inputs());
  CHECK(outcome.shape() ==
        "action.resolved permission.resolved tool.started tool.failed item.completed task.resumed "
        "model.requested");
  CHECK(outcome.payload_of<ActionResolved>().decision == "expired");
  CHECK(outcome.payload_of<ActionResolved>().decision_source == "host_policy");
  CHECK(outcome.payload_of<ToolFailed>().error.category == Category::timeout);
  CHECK(when(outcome.after, expired, waiting.inputs()).shape() == "unchanged");
}

TEST_CASE("if nobody can be asked, ask becomes unavailable and the turn continues") {
  Given past = state::Given{}.session().thread_started();
  TurnOptions options;
  options.interactive = false;
  past.fact(state::turn_scope("1"), TaskCreated{});
  past.fact(state::turn_scope("1"), TurnSubmitted{.options = options});
  past.fact(state::turn_scope("1"), TurnStarted{.boot_id = state::kBoot});
  past.asked("1");
  const Outcome outcome = when(past, asks_for({"make test"}));
  CHECK(outcome.payload_of<PermissionEvaluated>().decision == Decision::unavailable);
  CHECK(outcome.payload_of<ToolFailed>().error.category == Category::unavailable);
  CHECK(outcome.shape().ends_with("model.requested"));
}

TEST_CASE("the model's question waits for a person, and the answer is its result") {
  const Given past = asked_under(policy_in(PermissionMode::default_));
  const Outcome asked =
      when(past, asks_question(R"({"question":"Which?","choices":["red","blue"]})"));
  CHECK(asked.shape() ==
        "model.completed item.started tool.started action.required task.waiting run.status");
  CHECK(asked.payload_of<ActionRequired>().action_type == "input");
  CHECK(asked.thread().status == Status::waiting_input);
  CHECK(when(past, asks_question(R"({"question":")" + std::string(5'000, 'q') + R"("})"))
            .payload_of<ToolFailed>()
            .error.message == "question: must have at most 4096 characters");
  const Inputs inputs = inputs_at(past.now());
  RespondAction answer = answer_to(asked.after, "answer");
  CHECK(when(asked.after, Command{answer}, inputs).shape() == "refused: invalid_params");
  answer.payload = Json{R"({"answer":"green"})"};
  CHECK(when(asked.after, Command{answer}, inputs).refusal().message ==
        "payload.answer: expected one of red, blue");
  answer.payload = Json{R"({"answer":"blue"})"};
  const Outcome answered = when(asked.after, Command{answer}, inputs);
  CHECK(answered.shape() ==
        "action.resolved tool.result item.completed task.resumed model.requested");
  CHECK(answered.payload_of<ToolResult>().preview == R"({"answer":"blue"})");
  CHECK(when(asked.after, Command{answer_to(asked.after, "cancel")}, inputs).shape() ==
        "action.resolved tool.failed item.completed task.resumed model.requested");
  ResolvePermission permission{.action_id = answer.action_id, .decision = "allow"};
  CHECK(when(asked.after, Command{permission}, inputs).shape() == "refused: conflict");
}

TEST_CASE("a model gets a hint how to leave the sandbox if that stopped its command") {
  const Given past = asked_under(policy_in(PermissionMode::on_request));
  const Inputs inputs = inputs_at(past.now());
  const Outcome started = when(past, asks_for({"touch /etc/x"}));
  const Outcome ready = when(started.after, ready_of(started.after), inputs);
  ReportProcessEnded end = end_of(ready.after, 1);
  CHECK(when(ready.after, end, inputs).payload_of<ToolResult>().preview == "a");
  end.news.violations = {{ViolationKind::filesystem, "open .git/x", "mountNamespace", true}};
  CHECK(when(ready.after, end, inputs).payload_of<ToolResult>().preview == "a");
  end.news.violations.front().advisory = false;
  const auto preview = when(ready.after, end, inputs).payload_of<ToolResult>().preview;
  CHECK(preview.value_or("").starts_with("a\n[The sandbox blocked an operation"));
  CHECK(preview.value_or("").find("outsideSandbox: true") != std::string::npos);
}

TEST_CASE("in mode on_failure a person is asked about what the sandbox stopped") {
  const Given past = asked_under(policy_in(PermissionMode::on_failure));
  const Inputs inputs = inputs_at(past.now());
  const Outcome started = when(past, asks_for({"touch /etc/x"}));
  CHECK(started.payload_of<PermissionEvaluated>().decision == Decision::sandboxed);
  const Outcome ready = when(started.after, ready_of(started.after), inputs);
  CHECK(when(ready.after, end_of(ready.after, 1), inputs).shape() ==
        "process.completed tool.result item.completed model.requested");
  ReportProcessEnded end = end_of(ready.after, 1);
  end.news.violations = {{ViolationKind::filesystem, "open /etc/x", "landlock", {}}};
  const Outcome stopped = when(ready.after, end, inputs);
  CHECK(stopped.shape() == "sandbox.violation process.completed tool.progress");
  const Outcome asked = when(stopped.after, inspected_of(stopped.after), inputs);
  CHECK(asked.shape() == kAsked);
  CHECK(asked.payload_of<ActionRequired>().sandbox == SandboxMode::full_access);
  const Outcome no = when(asked.after, Command{answer_to(asked.after, "deny")}, inputs);
  CHECK(no.shape() ==
        "action.resolved permission.resolved tool.result item.completed task.resumed "
        "model.requested");
  CHECK(no.payload_of<ToolResult>().preview == "a");
  const Outcome yes = when(asked.after, Command{answer_to(asked.after, "allow")}, inputs);
  CHECK(yes.shape() == "action.resolved permission.resolved task.resumed");
  CHECK(first_tool(yes.after).outside);
  ReportProcessReady again = ready_of(yes.after);
  again.binding = inspected_of(yes.after).binding;
  CHECK(when(yes.after, again, inputs).shape() == "sandbox.applied process.started");
}

TEST_CASE("a call that asks to leave the sandbox is asked about, unless the host forbids it") {
  const Given past = asked_under(policy_in(PermissionMode::on_request));
  ReportModelCompleted report{.request = state::request_of("1")};
  report.calls = {{"shell", {R"({"command":"ls","outsideSandbox":true})"}}};
  CHECK(when(past, report).shape() == "model.completed item.started");
  CHECK(when(past, asks_for({"ls"})).payload_of<PermissionEvaluated>().decision ==
        Decision::sandboxed);
  Settings host = usual_settings();
  host.sandboxes_forbidden = {SandboxMode::full_access};
  Inputs inputs = inputs_at(past.now());
  inputs.settings = &host;
  CHECK(when(past.view(), report, inputs).payload_of<ToolFailed>().error.category ==
        Category::denied);
}

TEST_CASE("trust is asked for where that was wished, and the turn is prepared again with it") {
  Given past = state::Given{}.session().thread_started();
  TurnOptions options;
  options.ask_trust = true;
  past.fact(state::turn_scope("1"), TaskCreated{});
  past.fact(state::turn_scope("1"), TurnSubmitted{.options = options});
  past.fact(state::turn_scope("1"), TurnStarted{.boot_id = state::kBoot});
  ReportPrepared report{.turn = state::turn_ids("1").turn};
  report.policy.files = {{"/w/.agentrt/config.toml", "sha256:1", false, false}};
  report.policy.ignored = {"it allows shell(ls:*)"};
  const Outcome asked = when(past, report);
  CHECK(asked.shape() == "policy.changed action.required task.waiting run.status");
  const Inputs inputs = inputs_at(past.now());
  const Outcome yes = when(asked.after, Command{answer_to(asked.after, "allow")}, inputs);
  CHECK(yes.shape() == "action.resolved policy.changed task.resumed run.status");
  CHECK(yes.payload_of<PolicyChanged>().files->front().trusted);
  CHECK_FALSE(turn_of(yes.after).prepared);
  Inputs bound = inputs;
  bound.bound = true;
  CHECK(when(asked.after, Command{answer_to(asked.after, "allow")}, bound).shape() ==
        "refused: forbidden");
  CHECK(when(asked.after, Command{answer_to(asked.after, "deny")}, bound)
            .shape()
            .starts_with("action.resolved"));
  const Outcome no = when(asked.after, Command{answer_to(asked.after, "deny")}, inputs);
  CHECK(when(no.after, report, inputs).shape().find("action.required") == std::string::npos);
}

}  // namespace agentrt::control
