// policy/claude_hooks_test.cc: tests hooks that were written for Claude Code.
#include "policy/claude_hooks.h"

#include <doctest/doctest.h>

#include "policy/claude_names.h"

namespace agentrt::policy {
namespace {

using schema::Category;
using schema::Decision;
using schema::HookDialect;
using schema::HookInput;
using schema::HookOutcome;
using schema::HookPoint;
using schema::HookSpec;

HookInput call_of(std::string tool, std::string args, HookPoint point = HookPoint::pre_tool_use) {
  HookInput input;
  input.point = point;
  input.session_id = SessionId{"sess_1"};
  input.tool_call_id = ToolCallId{"call_1"};
  input.cwd = "/w";
  input.tool_name = std::move(tool);
  input.tool_input = schema::Json{std::move(args)};
  return input;
}

HookOutcome answered(HookPoint point, const std::string& out, std::int64_t exit_code = 0,
                     const std::string& err = "") {
  HookSpec hook;
  hook.point = point;
  hook.dialect = HookDialect::claude;
  return hook_outcome(hook, call_of("shell", R"({"command":"ls","cwd":"sub"})", point),
                      {.exit_code = exit_code, .signal = {}, .out = out, .err = err});
}

TEST_CASE("their events are points of ours, or nothing") {
  CHECK(point_of_event("PreToolUse") == HookPoint::pre_tool_use);
  CHECK(point_of_event("PostToolUseFailure") == HookPoint::post_tool_failure);
  CHECK(point_of_event("Notification") == std::nullopt);
  CHECK(event_of_point(HookPoint::stop) == "Stop");
}

TEST_CASE("their expressions become matchers that match no less") {
  const auto holds = [](std::string_view expression, std::string_view name) {
    const auto matcher = matcher_of_claude(expression);
    REQUIRE(matcher);
    return matches(*matcher, name);
  };
  for (const char* every : {"", "*", ".*"}) CHECK(holds(every, "Bash"));
  CHECK(holds("Bash", "Bash"));
  CHECK_FALSE(holds("Bash", "BashOutput"));
  CHECK(holds("Edit|Write", "Write"));
  CHECK(holds("Edit, Write", "Write"));
  CHECK(holds("(Edit|Write)", "Edit"));
  CHECK(holds("^(Edit|Write)$", "Edit"));
  CHECK_FALSE(holds("^(Edit|Write)$", "MultiEdit"));
  CHECK(holds("Notebook.*", "NotebookEdit"));
  CHECK(holds("mcp__.*__write.*", "mcp__files__write_all"));
  CHECK_FALSE(holds("mcp__.*__write.*", "mcp__files__read"));
  CHECK(holds("mcp__*", "mcp_x"));
  CHECK(holds("^mcp__", "mcp__a__b"));
  CHECK_FALSE(holds("^mcp__", "x_mcp__a"));
  for (const char* beyond : {"[A-Z]+", "(a)(b)", "a?", "a{2}", "\\bBash", "(A)|(B)", "a\\"})
    CHECK(matcher_of_claude(beyond) == std::nullopt);
}

TEST_CASE("a Claude Code matcher is compared with Claude Code's names of our tools") {
  HookSpec hook;
  hook.dialect = HookDialect::claude;
  hook.matcher = "Glob";
  CHECK(hook_applies(hook, HookPoint::pre_tool_use, "list_files"));
  CHECK_FALSE(hook_applies(hook, HookPoint::pre_tool_use, "shell"));
  hook.matcher = "mcp__files__*";
  CHECK(hook_applies(hook, HookPoint::pre_tool_use, "mcp__files__read"));
  hook.point = HookPoint::session_start;
  hook.matcher = "startup";
  CHECK(hook_applies(hook, HookPoint::session_start, "startup"));
  CHECK_FALSE(hook_applies(hook, HookPoint::session_start, "resume"));
}

TEST_CASE("Claude Code hooks get a call under their names, with absolute paths") {
  CHECK(claude_input(call_of("shell", R"({"command":"ls","timeoutMs":5,"cwd":"sub"})")) ==
        R"({"session_id":"sess_1","cwd":"/w","permission_mode":"default",)"
        R"("hook_event_name":"PreToolUse","tool_name":"Bash",)"
        R"("tool_input":{"command":"ls","cwd":"sub","timeout":5},"tool_use_id":"call_1"})");
  const auto path = [](const std::string& ours) {
    const std::string text = claude_input(call_of("read_file", R"({"path":")" + ours + "\"}"));
    const std::size_t at = text.find("file_path") + 12;
    return text.substr(at, text.find('"', at) - at);
  };
  CHECK(path("a/b") == "/w/a/b");
  CHECK(path("./.env") == "/w/.env");
  CHECK(path("/etc/x") == "/etc/x");
}

TEST_CASE(
    "Claude Code hooks get file tools' arguments under their names, and answer the same way") {
  struct Case {
    std::string tool, ours, theirs;
  };
  const std::vector<Case> cases = {
      {"read_file", R"({"limit":3,"offset":2,"path":"/w/a"})",
       R"({"file_path":"/w/a","limit":3,"offset":2})"},
      {"read_file", R"({"path":"output:out_1"})", R"({"file_path":"output:out_1"})"},
      {"write_file", R"({"content":"x","path":"/w/a"})", R"({"content":"x","file_path":"/w/a"})"},
      {"edit_file", R"({"newText":"b","oldText":"a","path":"/w/a","replaceAll":true})",
       R"({"file_path":"/w/a","new_string":"b","old_string":"a","replace_all":true})"},
      {"list_files", R"({"depth":2,"path":"/w/src","pattern":"*.h"})",
       R"({"depth":2,"path":"/w/src","pattern":"*.h"})"},
      {"search_files",
       R"({"context":1,"files":"*.h","ignoreCase":true,"path":"/w/src","pattern":"x"})",
       R"({"-C":1,"-i":true,"glob":"*.h","path":"/w/src","pattern":"x"})"}};
  HookSpec hook;
  hook.point = HookPoint::pre_tool_use;
  hook.dialect = HookDialect::claude;
  for (const Case& each : cases) {
    CAPTURE(each.tool);
    const HookInput input = call_of(each.tool, each.ours);
    CHECK(claude_input(input).contains("\"tool_input\":" + each.theirs));
    const HookOutcome outcome = hook_outcome(
        hook, input,
        {.exit_code = 0,
         .signal = {},
         .out = R"({"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":)" +
                each.theirs + "}}",
         .err = ""});
    REQUIRE(outcome.updated_input);
    CHECK(outcome.updated_input->text == each.ours);
  }
}

TEST_CASE("Claude Code hooks get prompts, results, failures and ends") {
  HookInput input = call_of("shell", "{}", HookPoint::post_tool_use);
  input.tool_output = "out";
  CHECK(claude_input(input).find(R"("tool_response":{"stdout":"out"})") != std::string::npos);
  input.point = HookPoint::post_tool_failure;
  input.error = schema::Failure{Category::timeout, "late", false};
  CHECK(claude_input(input).find(R"("error":"late","is_interrupt":false)") != std::string::npos);
  HookInput stop;
  stop.point = HookPoint::stop;
  stop.text = "bye";
  CHECK(claude_input(stop).find(R"("stop_hook_active":false,"last_assistant_message":"bye")") !=
        std::string::npos);
}

TEST_CASE("a permission decision is taken, and a rewritten call comes back in our words") {
  const HookOutcome outcome = answered(
      HookPoint::pre_tool_use,
      R"({"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow",)"
      R"("permissionDecisionReason":"fine","additionalContext":"note",)"
      R"("updatedInput":{"command":"ls -l","timeout":9}},"suppressOutput":true,)"
      R"("systemMessage":"hi"})");
  CHECK(outcome.decision == Decision::allow);
  CHECK(outcome.reason == "fine");
  CHECK(outcome.updated_input->text == R"({"command":"ls -l","cwd":"sub","timeoutMs":9})");
  CHECK(outcome.additional_context == std::vector<std::string>{"note"});
  CHECK(outcome.suppress_output);
  CHECK(outcome.message == "hi");
  CHECK(answered(HookPoint::pre_tool_use, R"({"hookSpecificOutput":{"permissionDecision":"deny"}})")
            .block);
  CHECK(
      answered(HookPoint::pre_tool_use, R"({"hookSpecificOutput":{"permissionDecision":"defer"}})")
          .decision == Decision::ask);
}

TEST_CASE("a permission request is answered by behavior") {
  const auto answer = [](const std::string& decision) {
    return answered(HookPoint::permission_request,
                    R"({"hookSpecificOutput":{"decision":)" + decision + "}}");
  };
  CHECK(answer(R"({"behavior":"allow"})").decision == Decision::allow);
  const HookOutcome denied = answer(R"({"behavior":"deny","message":"no","interrupt":true})");
  CHECK(denied.decision == Decision::deny);
  CHECK(denied.reason == "no");
  CHECK_FALSE(denied.continue_);
  CHECK(answer(R"({"behavior":"perhaps"})").failure.has_value());
}

TEST_CASE("the older words block and approve are understood") {
  CHECK(answered(HookPoint::pre_tool_use, R"({"decision":"approve"})").decision == Decision::allow);
  CHECK(answered(HookPoint::pre_tool_use, R"({"decision":"block","reason":"r"})").decision ==
        Decision::deny);
  const HookOutcome stop = answered(HookPoint::stop, R"({"decision":"block","reason":"go on"})");
  CHECK(stop.block);
  CHECK(stop.reason == "go on");
  CHECK(answered(HookPoint::stop, R"({"decision":"maybe"})").failure.has_value());
}

TEST_CASE("continue false ends the turn with its reason") {
  const HookOutcome outcome =
      answered(HookPoint::post_tool_use, R"({"continue":false,"stopReason":"budget"})");
  CHECK_FALSE(outcome.continue_);
  CHECK(outcome.reason == "budget");
}

TEST_CASE("a result may be replaced by a text or by JSON") {
  const auto output = [](const std::string& value) {
    return answered(HookPoint::post_tool_use,
                    R"({"hookSpecificOutput":{"updatedToolOutput":)" + value + "}}")
        .updated_tool_output;
  };
  CHECK(output(R"("plain")") == "plain");
  CHECK(output(R"({"a":1})") == R"({"a":1})");
}

TEST_CASE("exit code 2 blocks where there is something to block") {
  CHECK(answered(HookPoint::pre_tool_use, "", 2, "no").decision == Decision::deny);
  CHECK(answered(HookPoint::user_prompt_submit, "", 2, "no").block);
  const HookOutcome start = answered(HookPoint::session_start, "", 2, "no");
  CHECK_FALSE(start.block);
  CHECK(start.message == "no");
}

TEST_CASE("plain text is context where a turn begins, and nothing elsewhere") {
  CHECK(answered(HookPoint::user_prompt_submit, "today is Friday\n").additional_context ==
        std::vector<std::string>{"today is Friday"});
  CHECK(answered(HookPoint::post_tool_use, "formatted 3 files") == HookOutcome{});
}

TEST_CASE("a broken object is a failure, a member of another version is not") {
  CHECK(answered(HookPoint::pre_tool_use, R"({"decision":)").failure.has_value());
  CHECK(answered(HookPoint::pre_tool_use, R"({"decision":1})").failure.has_value());
  CHECK(answered(HookPoint::pre_tool_use, R"({"terminalSequence":"x"})") == HookOutcome{});
}

}  // namespace
}  // namespace agentrt::policy
