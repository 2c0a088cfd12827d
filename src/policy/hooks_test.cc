// policy/hooks_test.cc: tests which hooks run, their input, and the meaning of their answers.
#include "policy/hooks.h"

#include <doctest/doctest.h>

namespace agentrt::policy {
namespace {

using schema::Category;
using schema::Decision;
using schema::HookDialect;
using schema::HookInput;
using schema::HookOutcome;
using schema::HookPoint;
using schema::HookSpec;

HookInput shell_call(HookPoint point = HookPoint::pre_tool_use) {
  HookInput input;
  input.point = point;
  input.session_id = SessionId{"sess_1"};
  input.thread_id = ThreadId{"thread_1"};
  input.turn_id = TurnId{"turn_1"};
  input.tool_call_id = ToolCallId{"call_1"};
  input.cwd = "/w";
  input.tool_name = "shell";
  input.tool_input = schema::Json{R"({"command":"ls"})"};
  return input;
}

HookOutcome answered(HookPoint point, const std::string& out, std::int64_t exit_code = 0,
                     const std::string& err = "") {
  HookSpec hook;
  hook.point = point;
  return hook_outcome(hook, shell_call(point),
                      {.exit_code = exit_code, .signal = {}, .out = out, .err = err});
}

TEST_CASE("a matcher is names with stars, and an empty one is every name") {
  CHECK(matches("", "shell"));
  CHECK(matches("shell", "shell"));
  CHECK_FALSE(matches("shell", "shell2"));
  CHECK(matches("read_file|shell", "shell"));
  CHECK(matches("mcp__*", "mcp__files__read"));
  CHECK(matches("*_file", "read_file"));
  CHECK(matches("mcp__*__read*", "mcp__files__read_all"));
  CHECK_FALSE(matches("mcp__*__read", "mcp__files__write"));
  CHECK_FALSE(matches("a|b", ""));
  CHECK(matches(std::string(1'000, '*') + "x", std::string(128, 'a') + "x"));
}

TEST_CASE("what cannot be a matcher is known") {
  CHECK(is_matcher("shell|mcp__a.b-c__*"));
  CHECK_FALSE(is_matcher("shell(ls)"));
  CHECK_FALSE(is_matcher("[ab]"));
  CHECK_FALSE(is_matcher(std::string(schema::kHookMatcherBytesMax + 1, 'a')));
}

TEST_CASE("a hook applies at its point, to the tools that it names") {
  HookSpec hook;
  hook.matcher = "shell";
  CHECK(hook_applies(hook, HookPoint::pre_tool_use, "shell"));
  CHECK_FALSE(hook_applies(hook, HookPoint::pre_tool_use, "read_file"));
  CHECK_FALSE(hook_applies(hook, HookPoint::post_tool_use, "shell"));
  hook.point = HookPoint::stop;
  CHECK(hook_applies(hook, HookPoint::stop, ""));
}

TEST_CASE("a hook reads one object with ids, place, mode, sandbox and the call") {
  CHECK(hook_input(shell_call(), HookDialect::agentrt) ==
        R"({"point":"pre_tool_use","sessionId":"sess_1","threadId":"thread_1","turnId":"turn_1",)"
        R"("toolCallId":"call_1","cwd":"/w","mode":"default",)"
        R"("sandbox":{"mode":"workspace_write","network":false},)"
        R"("toolName":"shell","toolInput":{"command":"ls"}})");
}

TEST_CASE("a hook that says nothing changes nothing") {
  CHECK(answered(HookPoint::pre_tool_use, "") == HookOutcome{});
  CHECK(answered(HookPoint::pre_tool_use, " \n") == HookOutcome{});
  CHECK(answered(HookPoint::pre_tool_use, "{}") == HookOutcome{});
}

TEST_CASE("every member of an answer is taken") {
  const HookOutcome call =
      answered(HookPoint::pre_tool_use,
               R"({"decision":"ask","reason":"r","updatedInput":{"command":"ls -l"},"audit":["n"],)"
               R"("additionalContext":["c"],"suppressOutput":true,"message":"m"})");
  CHECK(call.decision == Decision::ask);
  CHECK(call.reason == "r");
  CHECK(call.updated_input->text == R"({"command":"ls -l"})");
  CHECK(call.additional_context == std::vector<std::string>{"c"});
  CHECK(call.audit == std::vector<std::string>{"n"});
  CHECK(call.suppress_output);
  CHECK(call.message == "m");
  CHECK_FALSE(call.block);
  const HookOutcome after = answered(HookPoint::post_tool_use, R"({"updatedToolOutput":"x"})");
  CHECK(after.updated_tool_output == "x");
  const HookOutcome end = answered(HookPoint::stop, R"({"continue":false,"reason":"enough"})");
  CHECK_FALSE(end.continue_);
  CHECK(end.reason == "enough");
}

TEST_CASE("where a call is decided a block is a deny, and a deny a block") {
  for (const char* text :
       {R"({"block":true})", R"({"decision":"deny"})", R"({"block":true,"decision":"allow"})"}) {
    const HookOutcome outcome = answered(HookPoint::permission_request, text);
    CHECK(outcome.block);
    CHECK(outcome.decision == Decision::deny);
  }
  CHECK_FALSE(answered(HookPoint::stop, R"({"block":true})").decision.has_value());
}

TEST_CASE("exit code 2 blocks with what stands on standard error") {
  const HookOutcome outcome = answered(HookPoint::pre_tool_use, "ignored", 2, " not here\n");
  CHECK(outcome.block);
  CHECK(outcome.decision == Decision::deny);
  CHECK(outcome.reason == "not here");
  CHECK_FALSE(answered(HookPoint::stop, "", 2).reason->empty());
  const HookOutcome over = answered(HookPoint::post_tool_failure, "", 2, "too late");
  CHECK_FALSE(over.block);
  CHECK(over.message == "too late");
}

TEST_CASE("any other end is a failure that says how it ended") {
  const HookOutcome exited = answered(HookPoint::pre_tool_use, R"({"decision":"allow"})", 1, "oh");
  REQUIRE(exited.failure);
  CHECK(exited.failure->category == Category::exit_nonzero);
  CHECK(exited.failure->message == "the hook ended with exit code 1: oh");
  CHECK_FALSE(exited.decision.has_value());
  const HookOutcome killed =
      hook_outcome({}, shell_call(), {.exit_code = {}, .signal = 9, .out = "{}", .err = ""});
  CHECK(killed.failure->message == "the hook was killed by signal 9");
}

TEST_CASE("an answer that cannot be read is a failure that says why") {
  const auto why = [](HookPoint point, const std::string& out) {
    const HookOutcome outcome = answered(point, out);
    REQUIRE(outcome.failure);
    CHECK(outcome.failure->category == Category::invalid_input);
    return outcome.failure->message;
  };
  const auto says = [&](HookPoint point, const std::string& out, const std::string& part) {
    return why(point, out).find(part) != std::string::npos;
  };
  CHECK(says(HookPoint::pre_tool_use, "hello", "is not one JSON object"));
  CHECK(says(HookPoint::pre_tool_use, "{} {}", "is not one JSON object"));
  CHECK(says(HookPoint::pre_tool_use, "[]", "object"));
  CHECK(says(HookPoint::pre_tool_use, "{\"reason\":\"\xff\"}", "UTF-8"));
  CHECK(says(HookPoint::pre_tool_use, R"({"allow":true})", "allow: unknown member"));
  CHECK(says(HookPoint::pre_tool_use, R"({"decision":"yes"})", "decision"));
  CHECK(says(HookPoint::pre_tool_use, R"({"decision":"sandboxed"})", "allow, deny or ask"));
  CHECK(says(HookPoint::pre_tool_use, R"({"updatedInput":[]})", "updatedInput"));
  CHECK(says(HookPoint::stop, R"({"decision":"allow"})", "decision, which is not allowed at stop"));
  CHECK(says(HookPoint::stop, R"({"updatedInput":{}})", "updatedInput"));
  CHECK(says(HookPoint::post_tool_failure, R"({"block":true})", "block, which is not allowed"));
  CHECK(says(HookPoint::pre_tool_use, R"({"updatedToolOutput":"x"})", "updatedToolOutput"));
  CHECK(says(HookPoint::stop, std::string(65, '[') + std::string(65, ']'), "JSON"));
}

}  // namespace
}  // namespace agentrt::policy
