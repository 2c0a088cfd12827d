// control/steer_test.cc: tests interrupts and changes of the queue.
#include <doctest/doctest.h>

#include "control/testing/given.h"

namespace agentrt::control {

using namespace schema;
using state::busy_thread;
using state::Given;
using state::kSession;
using state::kThread;

namespace {

using Names = std::vector<std::string>;

constexpr std::string_view kCancelled = "task.attempt.failed turn.failed task.cancelled";
constexpr std::string_view kNextStarts =
    "queue.changed task.started task.attempt.started turn.started run.status";

std::string join(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const std::string_view part : parts) {
    if (!out.empty()) out += ' ';
    out += part;
  }
  return out;
}

InterruptTurn interrupt() { return {.session_id = kSession, .thread_id = kThread}; }
InterruptTurn interrupt(const std::string& name) {
  return {.session_id = kSession, .turn_id = TurnId{"turn_" + name}};
}

std::vector<TurnId> turns(std::initializer_list<const char*> names) {
  std::vector<TurnId> out;
  for (const char* name : names) out.emplace_back(name);
  return out;
}

}  // namespace

TEST_CASE("interrupt_turn ends the running turn and the next one starts") {
  const Outcome outcome = when(busy_thread().said("1", "half an"), interrupt());
  CHECK(outcome.shape() == join({"model.failed item.completed", kCancelled, kNextStarts}));
  CHECK(outcome.payload_of<ModelFailed>().error ==
        Failure{Category::cancelled, "interrupted", false});
  CHECK(outcome.payload_of<ItemCompleted>().status == Status::cancelled);
  CHECK(outcome.payload_of<TurnFailed>().status == Status::cancelled);
  CHECK(outcome.payload_of<TurnFailed>().reason == "interrupted");
  CHECK(outcome.payload_of<TaskAttemptFailed>().status == Status::cancelled);
  CHECK(outcome.payload_of<QueueChanged>() == QueueChanged{.change = QueueChange::started,
                                                           .turn_id = TurnId{"turn_2"},
                                                           .position = 0,
                                                           .count = 1});
  const auto reply = outcome.reply<InterruptTurnReply>();
  CHECK(reply.interrupted);
  CHECK(reply.turn_ids == turns({"turn_1"}));
  CHECK(reply.sequence == outcome.after.sequence);
  CHECK(outcome.thread().active->ids.turn == TurnId{"turn_2"});
  CHECK(names_of(outcome.thread().queue) == Names{"turn_3"});
}

TEST_CASE("interrupt_turn passes the caller's reason on") {
  InterruptTurn command = interrupt("1");
  command.reason = "wrong question";
  CHECK(when(busy_thread(), command).payload_of<TurnFailed>().reason == "wrong question");
}

TEST_CASE("interrupt_turn with queue clear ends every turn of the thread") {
  InterruptTurn command = interrupt();
  command.queue = QueueKeep::clear;
  const Outcome outcome = when(busy_thread(), command);
  CHECK(outcome.shape() == join({"model.failed", kCancelled, "turn.failed task.cancelled",
                                 "turn.failed task.cancelled queue.changed"}));
  CHECK(outcome.payload_of<QueueChanged>().change == QueueChange::cleared);
  CHECK(outcome.reply<InterruptTurnReply>().turn_ids == turns({"turn_1", "turn_2", "turn_3"}));
  CHECK_FALSE(outcome.thread().active.has_value());
  CHECK(outcome.thread().queue.empty());
  CHECK(outcome.thread().status == Status::idle);
  CHECK(outcome.after.tasks == TaskSummary{.active = 0, .cancelled = 3});
}

TEST_CASE("interrupt_turn of a waiting turn takes it out of the queue and nothing else") {
  const Outcome outcome = when(busy_thread(), interrupt("2"));
  CHECK(outcome.shape() == "turn.failed task.cancelled queue.changed");
  CHECK(outcome.fact_of<TurnFailed>().ids.turn_id == TurnId{"turn_2"});
  CHECK(outcome.payload_of<QueueChanged>() == QueueChanged{.change = QueueChange::removed,
                                                           .turn_id = TurnId{"turn_2"},
                                                           .position = 0,
                                                           .count = 1});
  CHECK(outcome.thread().active->ids.turn == TurnId{"turn_1"});
  CHECK(names_of(outcome.thread().queue) == Names{"turn_3"});
}

TEST_CASE("interrupt_turn without a thread means every thread of the session") {
  const ThreadId other{"thread_2"};
  const Outcome outcome = when(busy_thread().thread_started(other).running("4", other),
                               InterruptTurn{.session_id = kSession});
  CHECK(outcome.reply<InterruptTurnReply>().turn_ids == turns({"turn_1", "turn_4"}));
  CHECK(outcome.thread(other).status == Status::idle);
  CHECK(outcome.thread().active->ids.turn == TurnId{"turn_2"});
}

TEST_CASE("interrupt_turn of a blocked turn ends it and the next one starts") {
  const Outcome outcome =
      when(Given{}.session().thread_started().running("1").queued("2").blocked("1", "no_model"),
           interrupt());
  CHECK(outcome.shape() == join({kCancelled, kNextStarts}));
  CHECK(outcome.thread().status == Status::preparing);
  CHECK_FALSE(outcome.thread().reason.has_value());
}

TEST_CASE("interrupting what has ended, or an idle thread, changes nothing") {
  const Given past = Given{}.session().thread_started().running("1").asked("1").completed("1");
  for (const InterruptTurn& command : {interrupt(), interrupt("1")}) {
    const Outcome outcome = when(past, command);
    CHECK(outcome.shape() == "unchanged");
    const auto reply = outcome.reply<InterruptTurnReply>();
    CHECK_FALSE(reply.interrupted);
    CHECK(reply.turn_ids.empty());
    CHECK(reply.sequence == past.view().sequence);
  }
}

TEST_CASE("interrupting a turn that left the view long ago changes nothing") {
  Inputs inputs = inputs_at(state::kStart);
  inputs.named.turn = {busy_thread().log()[3], Status::completed};
  CHECK(when(busy_thread().view(), interrupt("0"), inputs).shape() == "unchanged");
}

TEST_CASE("interrupt_turn refuses a session, thread or turn that does not exist") {
  CHECK(when(Given{}, interrupt()).shape() == "refused: not_found");
  CHECK(when(Given{}.session(), interrupt()).shape() == "refused: not_found");
  CHECK(when(busy_thread(), interrupt("9")).shape() == "refused: not_found");
}

TEST_CASE("remove_queued_turn cancels the turn and answers with the order that is left") {
  const Outcome outcome =
      when(busy_thread(), RemoveQueuedTurn{kSession, kThread, TurnId{"turn_2"}, {}});
  CHECK(outcome.shape() == "turn.failed task.cancelled queue.changed");
  CHECK(outcome.payload_of<TurnFailed>().status == Status::cancelled);
  CHECK(outcome.reply<QueueReply>().queue == turns({"turn_3"}));
  CHECK(outcome.reply<QueueReply>().sequence == outcome.after.sequence);
  CHECK(names_of(outcome.thread().queue) == Names{"turn_3"});
  CHECK(outcome.after.tasks == TaskSummary{.active = 2, .cancelled = 1});
}

TEST_CASE("promote_queued_turn moves the turn to the head of the queue") {
  const Given past = busy_thread().queued("4");
  const Outcome outcome = when(past, PromoteQueuedTurn{kSession, kThread, TurnId{"turn_4"}, {}});
  CHECK(outcome.shape() == "queue.changed");
  CHECK(outcome.payload_of<QueueChanged>() == QueueChanged{.change = QueueChange::promoted,
                                                           .turn_id = TurnId{"turn_4"},
                                                           .position = 1,
                                                           .count = 3});
  CHECK(outcome.reply<QueueReply>().queue == turns({"turn_4", "turn_2", "turn_3"}));
  CHECK(names_of(outcome.thread().queue) == Names{"turn_4", "turn_2", "turn_3"});
}

TEST_CASE("promoting the head of the queue changes nothing") {
  const Given past = busy_thread();
  const Outcome outcome = when(past, PromoteQueuedTurn{kSession, kThread, TurnId{"turn_2"}, {}});
  CHECK(outcome.shape() == "unchanged");
  CHECK(outcome.reply<QueueReply>().queue == turns({"turn_2", "turn_3"}));
  CHECK(outcome.reply<QueueReply>().sequence == past.view().sequence);
}

TEST_CASE("a turn that is not queued cannot be removed or promoted, and the reply has its status") {
  const Outcome running =
      when(busy_thread(), RemoveQueuedTurn{kSession, kThread, TurnId{"turn_1"}, {}});
  CHECK(running.shape() == "refused: conflict");
  CHECK(running.refusal().details == R"({"status":"preparing"})");

  Inputs inputs = inputs_at(state::kStart);
  inputs.named.turn = {busy_thread().log()[3], Status::completed};
  const Outcome ended = when(busy_thread().view(),
                             PromoteQueuedTurn{kSession, kThread, TurnId{"turn_0"}, {}}, inputs);
  CHECK(ended.shape() == "refused: conflict");
  CHECK(ended.refusal().details == R"({"status":"completed"})");
}

TEST_CASE("remove and promote refuse a session, thread or turn that does not exist") {
  const RemoveQueuedTurn remove{kSession, kThread, TurnId{"turn_9"}, {}};
  const PromoteQueuedTurn promote{kSession, kThread, TurnId{"turn_9"}, {}};
  for (const Given& past : {Given{}, Given{}.session(), busy_thread()}) {
    CHECK(when(past, remove).shape() == "refused: not_found");
    CHECK(when(past, promote).shape() == "refused: not_found");
  }
}

}  // namespace agentrt::control
