// control/restart_test.cc: tests how a restart closes open work and how a blocked thread resumes.
#include <doctest/doctest.h>

#include "control/testing/given.h"

namespace agentrt::control {

using namespace schema;
using state::busy_thread;
using state::Given;
using state::kSession;
using state::kThread;

namespace {

const BootId kNextBoot{"boot_2"};

Inputs next_boot(const Given& past) {
  Inputs inputs = inputs_at(past.now() + 1'000);
  inputs.boot = kNextBoot;
  return inputs;
}

Outcome restart(const Given& past) { return when(past.view(), ReportRestarted{}, next_boot(past)); }

ResumeThread resume(std::optional<std::string> token = {}) {
  return {.session_id = kSession, .thread_id = kThread, .resume_token = std::move(token)};
}

constexpr std::string_view kGoesOn = "history.reconstructed task.resumed thread.updated run.status";

}  // namespace

TEST_CASE("after a restart an open request is closed as interrupted and the thread is blocked") {
  const Outcome outcome = restart(busy_thread().said("1", "half an"));
  CHECK(outcome.shape() == "model.failed item.completed task.blocked run.status thread.updated");
  const auto& failed = outcome.payload_of<ModelFailed>();
  CHECK(failed.error.category == Category::interrupted);
  CHECK_FALSE(failed.ended_by_provider);
  CHECK_FALSE(failed.retry.has_value());
  CHECK(failed.duration_ms == 1'000);
  CHECK(outcome.payload_of<ItemCompleted>().status == Status::failed);
  CHECK(outcome.payload_of<ThreadUpdated>() ==
        ThreadUpdated{.status = Status::blocked, .reason = "restart", .resumable = true});

  const state::Thread& thread = outcome.thread();
  CHECK(thread.status == Status::blocked);
  CHECK(thread.reason == "restart");
  CHECK(thread.resumable == true);
  CHECK(thread.active->ids.turn == TurnId{"turn_1"});
  CHECK_FALSE(thread.active->call.has_value());
  CHECK(names_of(thread.queue) == std::vector<std::string>{"turn_2", "turn_3"});
}

TEST_CASE("after a restart a turn that had asked nothing yet is blocked too") {
  const Outcome outcome = restart(Given{}.session().thread_started().running("1"));
  CHECK(outcome.shape() == "task.blocked run.status thread.updated");
}

TEST_CASE("if configured, a restarted turn resumes in the same decision") {
  Settings settings = usual_settings();
  settings.after_restart = AfterRestart::resume;
  Inputs inputs = next_boot(busy_thread());
  inputs.settings = &settings;
  const Outcome outcome = when(busy_thread().view(), ReportRestarted{}, inputs);
  CHECK(outcome.shape() ==
        "model.failed task.blocked run.status thread.updated " + std::string(kGoesOn));
  CHECK(outcome.thread().status == Status::preparing);
  CHECK(outcome.thread().active->boot == kNextBoot);
  CHECK_FALSE(outcome.thread().active->prepared);
}

TEST_CASE("a turn says itself whether it resumes") {
  const auto restarted = [](bool resume, AfterRestart configured) {
    TurnOptions options;
    options.resume = resume;
    Given past = Given{}.session().thread_started();
    past.fact(state::turn_scope("1"), TaskCreated{});
    past.fact(state::turn_scope("1"), TurnSubmitted{.options = options});
    past.fact(state::turn_scope("1"), TurnStarted{.boot_id = state::kBoot});
    Settings settings = usual_settings();
    settings.after_restart = configured;
    Inputs inputs = next_boot(past);
    inputs.settings = &settings;
    return when(past.view(), ReportRestarted{}, inputs).thread().status;
  };
  CHECK(restarted(true, AfterRestart::ask) == Status::preparing);
  CHECK(restarted(false, AfterRestart::resume) == Status::blocked);
}

TEST_CASE("a restart changes nothing where no work of another boot is open") {
  CHECK(restart(Given{}.session().thread_started()).shape() == "unchanged");
  CHECK(
      restart(Given{}.session().thread_started().running("1").asked("1").completed("1")).shape() ==
      "unchanged");
  CHECK(restart(busy_thread().blocked("1", "no_model")).shape() == "unchanged");
  CHECK(when(busy_thread(), ReportRestarted{}).shape() == "unchanged");
}

TEST_CASE("a second restart before anybody resumed changes nothing") {
  const Outcome first = restart(busy_thread());
  Inputs inputs = inputs_at(state::kStart);
  inputs.boot = BootId{"boot_3"};
  CHECK(when(first.after, ReportRestarted{}, inputs).shape() == "unchanged");
}

TEST_CASE("resume_thread continues a blocked turn in the boot that was asked") {
  const Outcome stopped = restart(busy_thread());
  const Outcome outcome = when(stopped.after, resume("turn_1"), next_boot(busy_thread()));
  CHECK(outcome.shape() == kGoesOn);
  CHECK(outcome.payload_of<HistoryReconstructed>() ==
        HistoryReconstructed{.turn_id = TurnId{"turn_1"},
                             .as_of_sequence = stopped.after.sequence,
                             .source = "log"});
  const auto reply = outcome.reply<ResumeThreadReply>();
  CHECK(reply.resumed);
  CHECK(reply.status == Status::preparing);
  CHECK(reply.turn_id == TurnId{"turn_1"});
  CHECK(reply.sequence == outcome.after.sequence);

  const state::Thread& thread = outcome.thread();
  CHECK(thread.status == Status::preparing);
  CHECK_FALSE(thread.reason.has_value());
  CHECK(thread.active->boot == kNextBoot);
  CHECK(thread.active->ids == state::turn_ids("1"));
  CHECK_FALSE(thread.active->prepared);
}

TEST_CASE("resume_thread of a thread that is not blocked changes nothing") {
  for (const Given& past : {Given{}.session().thread_started(), busy_thread()}) {
    const Outcome outcome = when(past, resume());
    CHECK(outcome.shape() == "unchanged");
    const auto reply = outcome.reply<ResumeThreadReply>();
    CHECK_FALSE(reply.resumed);
    CHECK(reply.status == past.thread().status);
    CHECK(reply.sequence == past.view().sequence);
  }
}

TEST_CASE("resume_thread with the token of another wait is a conflict that names the turn") {
  const Outcome outcome = when(busy_thread().blocked("1", "no_model"), resume("turn_0"));
  CHECK(outcome.shape() == "refused: conflict");
  CHECK(outcome.refusal().details == R"({"activeTurnId":"turn_1"})");
}

TEST_CASE("resume_thread refuses a session or thread that does not exist") {
  CHECK(when(Given{}, resume()).shape() == "refused: not_found");
  CHECK(when(Given{}.session(), resume()).shape() == "refused: not_found");
}

}  // namespace agentrt::control
