// control/submit_test.cc: tests submitting a turn. Each test replays a short history, submits one
// turn and compares the decision.
#include <doctest/doctest.h>

#include "control/testing/given.h"

namespace agentrt::control {

using namespace schema;
using state::busy_thread;
using state::Given;
using state::kBoot;
using state::kSession;
using state::kThread;

namespace {

SubmitTurn submit(const std::string& name) {
  return {.session_id = kSession,
          .thread_id = kThread,
          .turn_id = TurnId{"turn_" + name},
          .input = {text_part("ask " + name)}};
}

SubmitTurn submit(const std::string& name, QueuePolicy policy) {
  SubmitTurn command = submit(name);
  command.options = TurnOptions{.queue_policy = policy};
  return command;
}

Given idle_thread() { return Given{}.session().thread_started(); }

// The kernel's lookup result for a submit that names an existing turn.
Inputs knowing(const Outcome& first) {
  Inputs inputs = inputs_at(state::kStart);
  inputs.named.turn = {first.fact_of<TurnSubmitted>(), Status::running};
  return inputs;
}

// A task with one attempt, which is running or has ended like this.
state::Tasks with_task(const std::string& id, Status attempt) {
  state::Task task;
  task.task_id = TaskId{id};
  task.task_kind = "turn";
  task.status = attempt == Status::running ? TaskStatus::running : TaskStatus::failed;
  task.attempts_made = 1;
  task.attempts.emplace_back();
  task.attempts.back().run_id = RunId{"run_0"};
  task.attempts.back().status = attempt;
  if (attempt == Status::running) task.current_run_id = RunId{"run_0"};
  state::Tasks tasks;
  tasks.put(std::move(task));
  return tasks;
}

}  // namespace

TEST_CASE("a first submit makes session, thread, task and turn, and starts it, in this order") {
  const Outcome outcome = when(Given{}, submit("1"));
  CHECK(outcome.shape() ==
        "session.created thread.started task.created turn.submitted task.started "
        "task.attempt.started turn.started run.status");
  CHECK(outcome.payload_of<SessionCreated>() == SessionCreated{.cwd = "/w"});
  CHECK(outcome.payload_of<TaskCreated>() == TaskCreated{.visibility = Visibility::internal,
                                                         .status = TaskStatus::accepted,
                                                         .objective = "ask 1",
                                                         .task_kind = "turn"});
  CHECK(outcome.payload_of<TurnSubmitted>() == TurnSubmitted{.status = Status::accepted,
                                                             .input = {text_part("ask 1")},
                                                             .source = "user",
                                                             .params_hash = "hash_1"});
  CHECK(outcome.payload_of<TaskAttemptStarted>() == TaskAttemptStarted{.boot_id = kBoot});
  CHECK(outcome.payload_of<TurnStarted>() == TurnStarted{.boot_id = kBoot, .queued_ms = 0});
  CHECK(outcome.payload_of<RunStatus>().status == Status::preparing);

  const auto reply = outcome.reply<SubmitTurnReply>();
  CHECK(reply.thread_id == kThread);
  CHECK(reply.turn_id == TurnId{"turn_1"});
  CHECK(reply.status == Status::accepted);
  CHECK_FALSE(reply.position.has_value());
  CHECK(reply.sequence == outcome.after.sequence);
  CHECK(outcome.thread().active->ids.turn == reply.turn_id);
}

TEST_CASE("every fact of a turn carries task, run, attempt and trace, and the caller's request") {
  const Outcome outcome = when(Given{}, submit("1"));
  for (const Fact& fact : outcome.facts) {
    CHECK(fact.ids.request_id == RequestId{"req_1"});
    if (fact.sequence <= 2) continue;  // the session's and thread's facts
    const auto type = type_of(fact.payload);
    CAPTURE(type);
    CHECK(fact.ids.turn_id == TurnId{"turn_1"});
    CHECK(fact.ids.task_id == outcome.facts.back().ids.task_id);
    CHECK_FALSE(fact.ids.task_id.empty());
    CHECK_FALSE(fact.ids.run_id.empty());
    CHECK_FALSE(fact.ids.attempt_id.empty());
    CHECK(fact.ids.trace_id.text().size() == 32);
  }
}

TEST_CASE("a submit without ids is given new ones") {
  const Outcome outcome = when(Given{}, SubmitTurn{.input = {text_part("hello")}});
  const auto reply = outcome.reply<SubmitTurnReply>();
  CHECK(reply.thread_id.text().starts_with("thread_"));
  CHECK(reply.turn_id.text().starts_with("turn_"));
  CHECK(reply.task_id.text().starts_with("task_"));
  CHECK_FALSE(outcome.payload_of<TurnSubmitted>().params_hash.has_value());
}

TEST_CASE("the caller's trace becomes the turn's") {
  Inputs inputs = inputs_at(state::kStart);
  inputs.trace =
      TraceContext{TraceId{"4bf92f3577b34da6a3ce929d0e0e4736"}, SpanId{"00f067aa0ba902b7"}, true};
  const Outcome outcome = when(state::Session{}, submit("1"), inputs);
  CHECK(outcome.fact_of<TurnStarted>().ids.trace_id == inputs.trace->trace);
  CHECK(outcome.payload_of<TurnSubmitted>().parent_span_id == inputs.trace->parent);
  CHECK(outcome.payload_of<TurnSubmitted>().trace_sampled == true);
}

TEST_CASE("a submit to an idle thread makes neither session nor thread again") {
  CHECK(when(idle_thread(), submit("1")).shape() ==
        "task.created turn.submitted task.started task.attempt.started turn.started run.status");
}

TEST_CASE("a named task is a foreground one") {
  SubmitTurn command = submit("1");
  command.task_id = TaskId{"task_mine"};
  const Outcome outcome = when(idle_thread(), command);
  CHECK(outcome.payload_of<TaskCreated>().visibility == Visibility::foreground);
  CHECK(outcome.fact_of<TurnSubmitted>().ids.task_id == TaskId{"task_mine"});
}

TEST_CASE("a submit queues behind the running turn") {
  const Outcome outcome = when(busy_thread(), submit("4"));
  CHECK(outcome.shape() == "task.created turn.submitted queue.changed");
  CHECK(outcome.payload_of<TaskCreated>().status == TaskStatus::queued);
  CHECK(outcome.payload_of<TurnSubmitted>().status == Status::queued);
  CHECK(outcome.payload_of<QueueChanged>() ==
        QueueChanged{
            .change = QueueChange::added, .turn_id = TurnId{"turn_4"}, .position = 3, .count = 3});
  const auto reply = outcome.reply<SubmitTurnReply>();
  CHECK(reply.status == Status::queued);
  CHECK(reply.position == 3);
  CHECK(reply.sequence == outcome.after.sequence);
  CHECK(names_of(outcome.thread().queue) == std::vector<std::string>{"turn_2", "turn_3", "turn_4"});
}

TEST_CASE("a submit to another thread starts beside the running turn") {
  SubmitTurn command = submit("4");
  command.thread_id = ThreadId{"thread_2"};
  const Outcome outcome = when(busy_thread(), command);
  CHECK(outcome.shape() ==
        "thread.started task.created turn.submitted task.started task.attempt.started "
        "turn.started run.status");
  CHECK(outcome.thread().active->ids.turn == TurnId{"turn_1"});
  CHECK(outcome.thread(ThreadId{"thread_2"}).active->ids.turn == TurnId{"turn_4"});
}

TEST_CASE("queue policy reject refuses while a turn runs, and names it") {
  const Outcome busy = when(busy_thread(), submit("4", QueuePolicy::reject));
  CHECK(busy.shape() == "refused: conflict");
  CHECK(busy.refusal().details == R"({"status":"preparing","activeTurnId":"turn_1"})");
  const Outcome idle = when(idle_thread(), submit("1", QueuePolicy::reject));
  CHECK(idle.reply<SubmitTurnReply>().status == Status::accepted);
}

TEST_CASE("queue policy interrupt ends the running turn and starts the new one before the queue") {
  const Outcome outcome = when(busy_thread(), submit("4", QueuePolicy::interrupt));
  CHECK(outcome.shape() ==
        "model.failed task.attempt.failed turn.failed task.cancelled task.created turn.submitted "
        "task.started task.attempt.started turn.started run.status");
  CHECK(outcome.fact_of<TurnFailed>().ids.turn_id == TurnId{"turn_1"});
  CHECK(outcome.payload_of<TurnFailed>().status == Status::cancelled);
  CHECK(outcome.payload_of<ModelFailed>().error.category == Category::cancelled);
  CHECK_FALSE(outcome.payload_of<ModelFailed>().ended_by_provider);
  CHECK(outcome.thread().active->ids.turn == TurnId{"turn_4"});
  CHECK(names_of(outcome.thread().queue) == std::vector<std::string>{"turn_2", "turn_3"});
}

TEST_CASE("a full queue refuses the next turn, but not one that interrupts") {
  Settings small = usual_settings();
  small.queue_turns_max = 2;
  Inputs inputs = inputs_at(state::kStart);
  inputs.settings = &small;
  const state::Session view = busy_thread().view();
  const Outcome full = when(view, submit("4"), inputs);
  CHECK(full.shape() == "refused: limit_exceeded");
  CHECK(full.refusal().details == R"({"queueTurnsMax":2})");
  CHECK(when(view, submit("4", QueuePolicy::interrupt), inputs).shape() != full.shape());
  small.queue_turns_max = 3;
  CHECK(when(view, submit("4"), inputs).shape() == "task.created turn.submitted queue.changed");
}

TEST_CASE("the limits of a session have these defaults") {
  const Settings settings;
  CHECK(settings.queue_turns_max == 1'000);
  CHECK(settings.threads_max == 1'000);
  CHECK(settings.turn_steps_max == 50);
  CHECK(settings.model_retries_max == 3);
  CHECK(settings.retry_base_ms == 250);
  CHECK(settings.retry_max_ms == 30'000);
}

TEST_CASE("a session has a limited number of threads") {
  Settings small = usual_settings();
  small.threads_max = 1;
  Inputs inputs = inputs_at(state::kStart);
  inputs.settings = &small;
  SubmitTurn command = submit("4");
  CHECK(when(busy_thread().view(), command, inputs).shape() ==
        "task.created turn.submitted queue.changed");
  command.thread_id = ThreadId{"thread_2"};
  CHECK(when(busy_thread().view(), command, inputs).shape() == "refused: limit_exceeded");
}

TEST_CASE("input has at least one part, and each part exactly the member of its type") {
  const std::vector<std::vector<InputPart>> wrong = {
      {},
      {{InputKind::text, {}, {}}},
      {{InputKind::text, {}, "a.txt"}},
      {{InputKind::text, "a", "a.txt"}},
      {{InputKind::file, "a", {}}},
      {text_part("fine"), {InputKind::file, {}, {}}},
      {{InputKind::output, {}, {}}},
      {{InputKind::output, {}, "a.txt"}},
      {{InputKind::output, "a", {}, "out_1"}},
      {{InputKind::text, "a", {}, "out_1"}},
  };
  for (const auto& input : wrong) {
    SubmitTurn command = submit("1");
    command.input = input;
    CHECK(when(idle_thread(), command).shape() == "refused: invalid_params");
  }
  SubmitTurn command = submit("1");
  command.input = {file_part("a.txt"), text_part("read it")};
  CHECK(when(idle_thread(), command).payload_of<TaskCreated>().objective == "read it");
}

TEST_CASE("an output that the session does not have is refused") {
  SubmitTurn command = submit("1");
  command.input = {text_part("read it"), {InputKind::output, {}, {}, "out_1"}};
  CHECK(when(idle_thread(), command).payload_of<TurnSubmitted>().input == command.input);
  Inputs inputs = inputs_at(state::kStart);
  inputs.named.output = Error{Code::not_found, "there is no output out_1 in this session", {}};
  CHECK(when(idle_thread().view(), command, inputs).shape() == "refused: not_found");
  command.input = {{InputKind::output, {}, {}, "out_1"}};
  CHECK(when(idle_thread(), command).payload_of<TaskCreated>().objective == "out_1");
}

TEST_CASE("metadata is an object") {
  SubmitTurn command = submit("1");
  command.metadata = Json{"7"};
  CHECK(when(idle_thread(), command).shape() == "refused: invalid_params");
}

TEST_CASE("the workspace is absolute and fixed for the session") {
  SubmitTurn command = submit("1");
  command.options = TurnOptions{.cwd = "here"};
  CHECK(when(Given{}, command).shape() == "refused: invalid_params");
  command.options = TurnOptions{.cwd = "/other"};
  CHECK(when(Given{}, command).after.cwd == "/other");
  const Outcome other = when(idle_thread(), command);
  CHECK(other.shape() == "refused: conflict");
  CHECK(other.refusal().details == R"({"cwd":"/w"})");
  command.options = TurnOptions{.cwd = "/w"};
  CHECK(when(idle_thread(), command).reply<SubmitTurnReply>().status == Status::accepted);
}

TEST_CASE("a known turn id with the same params gives the first reply and no new fact") {
  for (const Given& past : {idle_thread(), busy_thread()}) {
    const Outcome first = when(past, submit("9"));
    const Outcome again = when(first.after, submit("9"), knowing(first));
    CHECK(again.shape() == "unchanged");
    CHECK(again.reply_text() == first.reply_text());
  }
}

TEST_CASE("a known turn id with other params is an idempotency conflict") {
  const Outcome first = when(idle_thread(), submit("9"));
  Inputs inputs = knowing(first);
  inputs.params_hash = "hash_2";
  CHECK(when(first.after, submit("9"), inputs).shape() == "refused: idempotency_conflict");
}

TEST_CASE("a turn id that the runtime chose cannot be submitted again") {
  const Outcome first =
      when(idle_thread(), SubmitTurn{.thread_id = kThread, .input = {text_part("hello")}});
  CHECK(when(first.after, submit("9"), knowing(first)).shape() == "refused: idempotency_conflict");
}

TEST_CASE("a repeated submit is answered though the task it names exists by now") {
  SubmitTurn command = submit("9");
  command.task_id = TaskId{"task_mine"};
  const Outcome first = when(idle_thread(), command);
  Inputs inputs = knowing(first);
  const state::Tasks tasks = with_task("task_mine", Status::running);
  inputs.tasks = &tasks;
  CHECK(when(first.after, command, inputs).reply_text() == first.reply_text());
}

TEST_CASE("a task with an open attempt is a conflict, and so is one of another session") {
  SubmitTurn command = submit("1");
  command.task_id = TaskId{"task_mine"};
  Inputs inputs = inputs_at(state::kStart);
  const state::Tasks tasks = with_task("task_mine", Status::running);
  inputs.tasks = &tasks;
  CHECK(when(idle_thread().view(), command, inputs).shape() == "refused: conflict");
  inputs.tasks = nullptr;
  inputs.named.foreign_tasks[TaskId{"task_mine"}] = SessionId{"sess_other"};
  CHECK(when(idle_thread().view(), command, inputs).shape() == "refused: conflict");
}

TEST_CASE("a turn on a task that has failed is its next attempt") {
  SubmitTurn command = submit("1");
  command.task_id = TaskId{"task_mine"};
  Inputs inputs = inputs_at(state::kStart);
  const state::Tasks tasks = with_task("task_mine", Status::failed);
  inputs.tasks = &tasks;
  const Outcome outcome = when(idle_thread().view(), command, inputs);
  CHECK(outcome.shape() ==
        "task.retrying turn.submitted task.started task.attempt.started turn.started run.status");
  CHECK(outcome.payload_of<TaskAttemptStarted>().attempt_count == 2);
}

TEST_CASE("modes and sandboxes that the host policy forbids are refused for every caller") {
  Settings settings = usual_settings();
  settings.modes_forbidden = {PermissionMode::bypass};
  settings.sandboxes_forbidden = {SandboxMode::full_access};
  const auto refused = [&](TurnOptions options) {
    SubmitTurn command;
    command.input = {text_part("go")};
    command.options = std::move(options);
    Inputs inputs = inputs_at(Timestamp{1});
    inputs.settings = &settings;
    return when(state::Session{}, Command{command}, inputs).shape();
  };
  TurnOptions bypass, open, plain;
  bypass.mode = PermissionMode::bypass;
  open.sandbox = SandboxMode::full_access;
  plain.mode = PermissionMode::plan;
  CHECK(refused(bypass) == "refused: forbidden");
  CHECK(refused(open) == "refused: forbidden");
  CHECK(refused(plain).starts_with("session.created"));
}

}  // namespace agentrt::control
