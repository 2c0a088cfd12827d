// state/read_models_test.cc: the snapshots derived from a view.
#include <doctest/doctest.h>

#include "schema/envelope.h"
#include "state/read_models.h"
#include "state/testing/given.h"

namespace agentrt::state {

using namespace schema;

TEST_CASE("each status has its public word and its task word") {
  struct Words {
    Status status;
    PublicStatus in_public;
    TaskStatus of_task;
  };
  const std::vector<Words> table = {
      {Status::accepted, PublicStatus::queued, TaskStatus::accepted},
      {Status::queued, PublicStatus::queued, TaskStatus::queued},
      {Status::preparing, PublicStatus::running, TaskStatus::preparing},
      {Status::running, PublicStatus::running, TaskStatus::running},
      {Status::waiting_input, PublicStatus::blocked, TaskStatus::waiting_input},
      {Status::waiting_permission, PublicStatus::blocked, TaskStatus::waiting_permission},
      {Status::waiting_resource, PublicStatus::blocked, TaskStatus::waiting_resource},
      {Status::blocked, PublicStatus::blocked, TaskStatus::blocked},
      {Status::streaming, PublicStatus::running, TaskStatus::running},
      {Status::retrying, PublicStatus::running, TaskStatus::retrying},
      {Status::lost, PublicStatus::unknown, TaskStatus::lost},
      {Status::timed_out, PublicStatus::failed, TaskStatus::timed_out},
      {Status::completed, PublicStatus::completed, TaskStatus::completed},
      {Status::failed, PublicStatus::failed, TaskStatus::failed},
      {Status::cancelled, PublicStatus::cancelled, TaskStatus::cancelled},
      {Status::stale, PublicStatus::stale, TaskStatus::stale},
  };
  for (const Words& words : table) {
    const std::string name{name_of(words.status)};
    CAPTURE(name);
    CHECK(public_status(words.status) == words.in_public);
    Turn turn;
    turn.status = words.status;
    CHECK(task_snapshot(kSession, turn).status == words.of_task);
  }
  CHECK(public_status(Status::idle) == PublicStatus::idle);
}

TEST_CASE("a turn is read with its refs, and with usage once it asked a model") {
  Given past = Given{}.session().thread_started().running("1");
  TurnSnapshot turn = turn_snapshot(*past.thread().active);
  CHECK(turn.turn_id == TurnId{"turn_1"});
  CHECK(turn.trace_id == turn_ids("1").trace);
  CHECK(turn.status == Status::preparing);
  CHECK(turn.input_preview == "ask 1");
  CHECK(turn.input_ref == "log:4");
  CHECK_FALSE(turn.usage.has_value());
  CHECK_FALSE(turn.output_ref.has_value());
  CHECK_FALSE(turn.completed_at.has_value());

  past.asked("1").wait(8).completed("1", "Hello.");
  turn = turn_snapshot(*past.thread().last);
  CHECK(turn.status == Status::completed);
  CHECK(turn.output_preview == "Hello.");
  CHECK(turn.output_ref == log_ref(past.thread().last->answer));
  CHECK(turn.usage == Usage{7, 3, {}, {}});
  CHECK(turn.model_requests == 1);
  CHECK(turn.completed_at == kStart + 8);
}

TEST_CASE("a waiting task has no attempt yet, a started one has its own") {
  const Given past = busy_thread();
  CHECK(task_snapshot(kSession, past.thread().queue.front()).attempts.empty());
  const TaskSnapshot task = task_snapshot(kSession, *past.thread().active);
  REQUIRE(task.attempts.size() == 1);
  CHECK(task.attempts[0].attempt_id == AttemptId{"attempt_1"});
  CHECK(task.attempts[0].status == PublicStatus::running);
  CHECK(task.attempts[0].native_status == Status::preparing);
  CHECK(task.current_run_id == RunId{"run_1"});
  CHECK(task.task_kind == "turn");
}

TEST_CASE("the session snapshot shows open work and says as of which fact") {
  const Given past = busy_thread();
  const SessionSnapshot snapshot = session_snapshot(past.view());
  CHECK(snapshot.schema_version == kSchemaVersion);
  CHECK(snapshot.status == Status::preparing);
  CHECK(snapshot.as_of_sequence == past.view().sequence);
  CHECK(snapshot.task_summary == TaskSummary{.active = 3});
  CHECK(snapshot.tasks.size() == 3);
  CHECK(snapshot.telemetry_summary.trace_ids.size() == 3);
  REQUIRE(snapshot.threads.size() == 1);
  const ThreadSnapshot& thread = snapshot.threads[0];
  CHECK(thread.status == PublicStatus::running);
  CHECK(thread.status_detail == Status::preparing);
  CHECK(thread.active_turn_id == TurnId{"turn_1"});
  REQUIRE(thread.queued_turns.size() == 2);
  CHECK(thread.queued_turns[1].turn_id == TurnId{"turn_3"});
  CHECK(thread.queued_turns[1].position == 2);
  CHECK_FALSE(thread.last_outcome.has_value());
  CHECK(thread.evidence_summary.status == Honesty::not_applicable);
}

TEST_CASE("a blocked thread is read with its reason and the token that resumes it") {
  const Given past = busy_thread().blocked("1", "restart");
  const ThreadRead read = thread_read(past.view(), past.thread());
  CHECK(read.status == Status::blocked);
  CHECK(read.status_reason == "restart");
  CHECK(read.resumable == true);
  CHECK(read.resume_token == "turn_1");
  CHECK(read.active_turn->turn_id == TurnId{"turn_1"});
  CHECK(read.tasks.size() == 3);
  CHECK(read.incidents.back().kind == "restart");
  CHECK(read.diagnostics.turns == 3);
  CHECK(read.as_of_sequence == past.view().sequence);
}

TEST_CASE("a running thread has no resume token; one that retries says when") {
  const Given running = busy_thread();
  CHECK_FALSE(thread_read(running.view(), running.thread()).resume_token.has_value());
  const Given waiting = busy_thread().retrying("1", 1, 250);
  const ThreadRead read = thread_read(waiting.view(), waiting.thread());
  CHECK(read.status == Status::retrying);
  CHECK(read.diagnostics.retry_at == kStart + 250);
  CHECK(read.diagnostics.model_requests == 1);
}

TEST_CASE("an idle thread is read with its last outcome") {
  const Given past = Given{}.session().thread_started().running("1").asked("1").completed("1");
  const ThreadRead read = thread_read(past.view(), past.thread());
  CHECK(read.status == Status::idle);
  CHECK_FALSE(read.active_turn.has_value());
  CHECK(read.last_outcome == Outcome{TurnId{"turn_1"}, Status::completed, {}, kStart});
  CHECK(read.tasks.empty());
}

TEST_CASE("the summary of a session counts its threads and turns and shows how the newest began") {
  const ThreadId other{"thread_2"};
  Given past = Given{}.session().thread_started().running("1").thread_started(other);
  past.wait(3).running("2", other);
  const SessionSummary summary = session_summary(past.view());
  CHECK(summary.threads == 2);
  CHECK(summary.turns == 2);
  CHECK(summary.preview == "ask 2");
  CHECK(summary.status == Status::preparing);
  CHECK(summary.created_at == kStart);
  CHECK(summary.updated_at == kStart + 3);
  CHECK_FALSE(session_summary(Given{}.session().view()).preview.has_value());
}

TEST_CASE("refs into the log name one fact or a run of them") {
  CHECK(log_ref(7) == "log:7");
  CHECK(log_ref(7, 9) == "log:7-9");
}

}  // namespace agentrt::state
