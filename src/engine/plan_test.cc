// engine/plan_test.cc: tests which effects a view calls for. Histories are given as facts.
#include <doctest/doctest.h>

#include "engine/plan.h"
#include "state/testing/given.h"

namespace agentrt::engine {

using namespace schema;
using state::busy_thread;
using state::Given;
using state::kBoot;
using state::kSession;

namespace {

Given started() { return Given{}.session().thread_started().running("1"); }

// The only effect of the view's plan.
Effect only(const Given& past) {
  const auto effects = plan(past.view(), kBoot);
  REQUIRE(effects.size() == 1);
  return effects.front();
}

}  // namespace

TEST_CASE("a started turn is prepared first, with the model it asked for") {
  Given past = Given{}.session().thread_started();
  past.fact(state::turn_scope("1"), TurnSubmitted{.options = {.model = "main"}})
      .fact(state::turn_scope("1"), TurnStarted{.boot_id = kBoot});
  const Effect effect = only(past);
  CHECK(effect.key == "prepare turn_1");
  CHECK(std::get<Prepare>(effect.what).turn == state::turn_ids("1"));
  CHECK(std::get<Prepare>(effect.what).model == "main");
}

TEST_CASE("a stored request is asked, also while its answer streams") {
  for (const Given& past : {busy_thread(), busy_thread().said("1", "Hel")}) {
    const Effect effect = only(past);
    CHECK(effect.key == "ask mreq_1");
    const Ask& ask = std::get<Ask>(effect.what);
    CHECK(ask.turn == state::turn_ids("1"));
    CHECK(ask.request == state::request_of("1"));
    CHECK(ask.model_name == "main");
    CHECK(ask.ended_by_provider == 0);
  }
}

TEST_CASE("a failed request is waited for, then asked with the count of those that ended") {
  Given past = started().asked("1").retrying("1", 1, 250);
  const Effect waiting = only(past);
  CHECK(std::get<AwaitRetry>(waiting.what).turn == TurnId{"turn_1"});
  CHECK(std::get<AwaitRetry>(waiting.what).at == past.now() + 250);
  past.requested("1");
  CHECK(std::get<Ask>(only(past).what).ended_by_provider == 1);
}

TEST_CASE("each wait for a retry has a key of its own") {
  Given past = started().asked("1").retrying("1", 1, 250);
  const std::string first = only(past).key;
  past.requested("1").retrying("1", 2, 500);
  CHECK(only(past).key != first);
}

TEST_CASE("planning again names the same effects by the same keys") {
  Given past = busy_thread();
  const std::string key = only(past).key;
  CHECK(only(past).key == key);
  past.said("1", "Hel").said("1", "lo").queued("4");
  CHECK(only(past).key == key);
}

TEST_CASE("threads of a session proceed side by side") {
  const ThreadId other{"thread_2"};
  const auto effects = plan(busy_thread().thread_started(other).running("4", other).view(), kBoot);
  REQUIRE(effects.size() == 2);
  CHECK(effects[0].key == "ask mreq_1");
  CHECK(effects[1].key == "prepare turn_4");
}

TEST_CASE("nothing is planned for an idle or blocked thread, or for work of another boot") {
  CHECK(plan(state::Session{}, kBoot).empty());
  CHECK(plan(Given{}.session().thread_started().view(), kBoot).empty());
  CHECK(plan(started().asked("1").completed("1").view(), kBoot).empty());
  CHECK(plan(busy_thread().blocked("1", "restart").view(), kBoot).empty());
  CHECK(plan(busy_thread().view(), BootId{"boot_2"}).empty());
}

TEST_CASE(
    "a session needs its owner while it works or waits for a person, not when it is blocked") {
  const auto needs = [](const Given& past) {
    return needs_owner(past.view(), plan(past.view(), kBoot));
  };
  CHECK_FALSE(needs(Given{}.session().thread_started()));
  CHECK_FALSE(needs(started().asked("1").completed("1")));
  CHECK_FALSE(needs(busy_thread().blocked("1", "restart")));
  CHECK(needs(busy_thread()));
  CHECK(needs(started().asked("1").retrying("1", 1, 250)));
  Given asked = started().asked("1");
  asked.fact(ActionScope{state::turn_scope("1"), ActionId{"action_1"}},
             ActionRequired{.action_type = std::string(kPermissionAction)});
  CHECK(plan(asked.view(), kBoot).empty());
  CHECK(needs(asked));
}

TEST_CASE("a turn that resumes in another boot is prepared there again") {
  const BootId next{"boot_2"};
  Given past = started().asked("1");
  past.fact(state::model_scope("1"), ModelFailed{.error = {Category::interrupted, "stopped", true}})
      .blocked("1", "restart")
      .fact(state::turn_scope("1"), ThreadUpdated{.status = Status::running, .boot_id = next})
      .fact(state::turn_scope("1"), RunStatus{.status = Status::preparing});
  const auto effects = plan(past.view(), next);
  REQUIRE(effects.size() == 1);
  CHECK(effects.front().key == "prepare turn_1");
  CHECK(plan(past.view(), kBoot).empty());
}

TEST_CASE("ahead of the log nothing begins but what reads, and a command that waits at its gate") {
  const Given past = started();
  const Sequence submitted = state::find_turn(past.view(), TurnId{"turn_1"})->submitted;
  CHECK(plan_ahead(past.view(), kBoot, submitted - 1).front().key == "prepare turn_1");
  CHECK(plan_ahead(past.view(), kBoot, submitted).empty());
  CHECK(plan_ahead(busy_thread().view(), kBoot, 0).front().key == "ask mreq_1");
  CHECK(plan_ahead(started().asked("1").retrying("1", 1, 250).view(), kBoot, 0).empty());
  for (const char* tool : {"shell", "write_file"}) {
    Given calling = started().asked("1");
    const ToolScope call{state::turn_scope("1"), StepId{"step_9"}, ToolCallId{"call_7"}};
    calling
        .fact(state::model_scope("1"),
              ModelCompleted{.tool_calls = {{ToolCallId{"call_7"}, tool, {"{}"}, {}}}})
        .fact(call, ToolStarted{.tool_name = tool});
    CAPTURE(tool);
    const auto ahead = plan_ahead(calling.view(), kBoot, 0);
    REQUIRE(ahead.size() == (tool == std::string("shell") ? 1 : 0));
    if (ahead.empty()) continue;
    CHECK(ahead.front().key == only(calling).key);
    calling.fact(ProcessScope{call, ProcessId{"proc_7"}},
                 ProcessStarted{.command = "ls", .boot_id = kBoot});
    CHECK(plan_ahead(calling.view(), kBoot, 0).empty());
  }
}

TEST_CASE("who runs a tool decides which effect a started call needs") {
  const auto key = [](const char* tool) {
    Given calling = started().asked("1");
    const ToolScope call{state::turn_scope("1"), StepId{"step_9"}, ToolCallId{"call_7"}};
    calling
        .fact(state::model_scope("1"),
              ModelCompleted{.tool_calls = {{ToolCallId{"call_7"}, tool, {"{}"}, {}}}})
        .fact(call, ToolStarted{.tool_name = tool});
    const auto effects = plan(calling.view(), kBoot);
    return effects.empty() ? std::string() : effects.front().key;
  };
  CHECK(key("shell").starts_with("process "));
  CHECK(key("read_file") == "call call_7");
  CHECK(key("mcp__s__act") == "call call_7");
  CHECK(key("ask_user").empty());
  CHECK(key("update_plan").empty());
}

TEST_CASE("a process in the background is followed under its call's key, by any boot") {
  Given past = started().asked("1");
  const ToolScope call{state::turn_scope("1"), StepId{"step_9"}, ToolCallId{"call_7"}};
  past.fact(state::model_scope("1"),
            ModelCompleted{.tool_calls = {{ToolCallId{"call_7"}, "shell", {"{}"}, {}}}})
      .fact(call, ToolStarted{.tool_name = "shell"});
  const std::string key = only(past).key;
  past.fact(ProcessScope{call, ProcessId{"proc_7"}},
            ProcessStarted{.command = "serve", .background = true, .boot_id = kBoot})
      .fact(call, ToolResult{})
      .fact(ProcessScope{call, ProcessId{"proc_7"}},
            ProcessOutput{.text = "up", .offset = 0, .next_offset = 2});
  for (const BootId& boot : {kBoot, BootId{"boot_2"}}) {
    const auto effects = plan(past.view(), boot);
    REQUIRE_FALSE(effects.empty());
    CHECK(effects.front().key == key);
    CHECK(std::get<FollowProcess>(effects.front().what).out_shown == 2);
    CHECK_FALSE(std::get<FollowProcess>(effects.front().what).ending);
  }
  past.fact(ProcessScope{call, ProcessId{"proc_7"}}, ProcessInput{.signal = "SIGTERM"});
  CHECK(std::get<FollowProcess>(plan(past.view(), kBoot).front().what).ending);
  past.fact(ProcessScope{call, ProcessId{"proc_7"}}, ProcessTerminated{});
  CHECK(only(past).key == "prepare turn_1");
}

TEST_CASE("the next turn of the queue is planned once it has started") {
  Given past = busy_thread().completed("1");
  CHECK(plan(past.view(), kBoot).empty());
  CHECK(only(past.next("2")).key == "prepare turn_2");
}

}  // namespace agentrt::engine
