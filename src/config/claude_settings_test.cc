// config/claude_settings_test.cc: hook files of Claude Code, and their unsupported entries.
#include "config/claude_settings.h"

#include <doctest/doctest.h>

namespace agentrt::config {
namespace {

using schema::HookPoint;
using schema::OnFailure;

std::optional<std::string> rule_of(std::string_view rule) {
  if (rule.starts_with("Bash")) return "shell" + std::string(rule.substr(4));
  return std::nullopt;
}

ClaudeSettings read(const std::string& text) {
  auto out = read_claude_settings(text, "/f", schema::RuleOrigin::workspace, rule_of);
  REQUIRE(out);
  return *std::move(out);
}
std::string error(const std::string& text) {
  const auto out = read_claude_settings(text, "/f", schema::RuleOrigin::workspace, rule_of);
  REQUIRE(!out);
  CHECK(out.error().code == Code::invalid_params);
  return out.error().message;
}
// One command hook for `event`, with additional members.
ClaudeSettings one(const std::string& event, const std::string& members = "",
                   const std::string& matcher = "Bash") {
  return read(R"({"hooks":{")" + event + R"(":[{"matcher":")" + matcher +
              R"(","hooks":[{"type":"command","command":"c")" + members + "}]}]}}");
}

TEST_CASE("a hook keeps its event, matcher, command and origin") {
  schema::HookSpec expected;
  expected.point = HookPoint::pre_tool_use;
  expected.matcher = "Bash";
  expected.command = "c";
  expected.timeout_ms = 60'000;
  expected.on_failure = OnFailure::closed;
  expected.origin = schema::RuleOrigin::workspace;
  expected.dialect = schema::HookDialect::claude;
  const ClaudeSettings settings = one("PreToolUse");
  REQUIRE(settings.hooks.size() == 1);
  CHECK(settings.hooks[0] == expected);
  CHECK(settings.unmapped.empty());
}

TEST_CASE("a file without hooks, or with hooks switched off, has none") {
  CHECK(read("{}").hooks.empty());
  CHECK(read(R"({"model":"x","env":{"A":"b"},"hooks":{}})").hooks.empty());
  CHECK(read(R"({"disableAllHooks":true,"hooks":{"Stop":[{"hooks":[{"command":"c"}]}]}})")
            .hooks.empty());
}

TEST_CASE("a guard fails closed and a context hook open, unless the file says otherwise") {
  CHECK(one("PermissionRequest").hooks[0].on_failure == OnFailure::closed);
  CHECK(one("PostToolUse").hooks[0].on_failure == OnFailure::open);
  CHECK(one("Stop", R"(,"onFailure":"block")").hooks[0].on_failure == OnFailure::closed);
  CHECK(one("PreToolUse", R"(,"onFailure":"continue")").hooks[0].on_failure == OnFailure::open);
}

TEST_CASE("a timeout is in seconds, and bounded") {
  CHECK(one("Stop", R"(,"timeout":5)").hooks[0].timeout_ms == 5'000);
  CHECK(one("Stop", R"(,"timeout":0.5)").hooks[0].timeout_ms == 500);
  for (const char* odd : {"600", "0", "-1", "\"x\"", "1e400"}) {
    const ClaudeSettings settings = one("Stop", R"(,"timeout":)" + std::string(odd));
    CHECK(settings.hooks[0].timeout_ms == 60'000);
    CHECK(settings.unmapped.size() == 1);
  }
}

TEST_CASE("a matcher counts where there is something to match") {
  CHECK(one("SessionStart", "", "startup").hooks[0].matcher == "startup");
  CHECK(one("Stop", "", "whatever(").hooks[0].matcher.empty());
  const ClaudeSettings odd = one("PreToolUse", "", "[A-Z]+");
  CHECK(odd.hooks[0].matcher.empty());
  CHECK(odd.unmapped.size() == 1);
}

TEST_CASE("what has no counterpart is named") {
  const auto named = [](const ClaudeSettings& settings, const std::string& part) {
    return settings.unmapped.size() == 1 && settings.unmapped[0].find(part) != std::string::npos;
  };
  CHECK(named(one("SubagentStop"), "SubagentStop has no equivalent"));
  CHECK(named(read(R"({"hooks":{"Stop":[{"hooks":[{"type":"prompt","prompt":"p"}]}]}})"),
              "type \"prompt\""));
  CHECK(named(one("Stop", R"(,"args":["a"])"), "args"));
  CHECK(one("Stop", R"(,"args":["a"])").hooks.empty());
  CHECK(named(one("PreToolUse", R"(,"if":"Bash")"), "\"if\" is ignored"));
  CHECK(named(one("PostToolUse", R"(,"async":true)"), "\"async\" is ignored"));
  CHECK(named(read(R"({"permissions":{"defaultMode":"plan"}})"), "defaultMode is ignored"));
  CHECK(named(read(R"({"permissions":{"deny":["A","B","C","D","E"]}})"), "A, B, C and 2 more"));
}

TEST_CASE("rules that have a counterpart are taken, each with its effect") {
  using schema::RuleEffect;
  using schema::RuleOrigin;
  const ClaudeSettings settings =
      read(R"x({"permissions":{"allow":["Bash(ls)","WebFetch"],"ask":["Bash"],)x"
           R"x("deny":["Bash(rm:*)"]}})x");
  CHECK(settings.rules ==
        std::vector<schema::PolicyRule>{{RuleEffect::allow, "shell(ls)", RuleOrigin::workspace},
                                        {RuleEffect::ask, "shell", RuleOrigin::workspace},
                                        {RuleEffect::deny, "shell(rm:*)", RuleOrigin::workspace}});
  CHECK(settings.unmapped ==
        std::vector<std::string>{
            "permissions.allow has rules without an equivalent, which are ignored: WebFetch"});
}

TEST_CASE("what is named is bounded, whatever the file holds") {
  std::string events;
  for (int i = 0; i < 1'000; ++i)
    events += (i == 0 ? "\"" : ",\"") + std::string(1'000, 'x') + std::to_string(i) + "\":[{}]";
  const ClaudeSettings settings = read("{\"hooks\":{" + events + "}}");
  CHECK(settings.unmapped.size() == 20);
  CHECK(settings.unmapped.front().size() == 256);
  CHECK(settings.unmapped.back() == "and more");
}

TEST_CASE("a file that cannot be understood is an error that names it") {
  const auto says = [](const std::string& text, const std::string& part) {
    return error(text).find(part) != std::string::npos;
  };
  CHECK(says("", "/f: is not valid"));
  CHECK(says("{", "/f: is not valid"));
  CHECK(says("[]", "/f: is not valid"));
  CHECK(says("{\"a\":\"\xff\"}", "UTF-8"));
  CHECK(says(R"({"hooks":[]})", "hooks"));
  CHECK(says(R"({"permissions":{"deny":"Bash"}})", "permissions.deny"));
  CHECK(says(R"({"hooks":{"Stop":{}}})", "hooks"));
  CHECK(says(R"({"hooks":{"Stop":[1]}})", "hooks.Stop is not valid"));
  CHECK(says(R"({"hooks":{"Stop":[{"hooks":[{"type":"command"}]}]}})", "no command"));
  CHECK(says(R"({"hooks":{"Stop":[{"hooks":[{"command":1}]}]}})", "hooks.Stop is not valid"));
  CHECK(says(R"({"hooks":{"Stop":[{"hooks":[{"command":")" + std::string(5'000, 'x') + "\"}]}]}}",
             "longer than 4096"));
}

}  // namespace
}  // namespace agentrt::config
