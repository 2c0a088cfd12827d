#include "policy/rules.h"

#include <doctest/doctest.h>

#include "policy/paths.h"

namespace agentrt::policy {
namespace {

using schema::RuleEffect;

Result<Rules> one(std::string rule, RuleEffect effect = RuleEffect::allow) {
  return compile({{effect, std::move(rule), schema::RuleOrigin::user}});
}

std::string error_of(std::string rule) {
  const auto rules = one(std::move(rule));
  return rules ? "" : rules.error().message;
}

bool fits(std::string rule, std::string_view path, RuleEffect effect = RuleEffect::allow) {
  const auto rules = one(std::move(rule), effect);
  REQUIRE(rules);
  return fits_path(rules->all[0], path, {"/ws", "/users/ada"});
}

}  // namespace

TEST_CASE("a rule that cannot be read says what to write") {
  CHECK(error_of("shel(ls)") ==
        "The allow rule shel(ls) is not valid: there is no tool shel; did you mean shell?");
  CHECK(error_of("Read_Fil(x)").ends_with("did you mean read_file?"));
  CHECK(error_of("frobnicate").contains("the tools are shell, read_file"));
  CHECK(error_of("").contains("there is no tool"));
  CHECK(error_of("shell(ls").contains("not closed"));
  CHECK(error_of("shell()").contains("write shell"));
  CHECK(error_of("shell(:*)").contains("every command"));
  CHECK(error_of("shell(git log *)").contains("shell(git log:*)"));
  CHECK(error_of("shell(ls; rm x)").contains("one command"));
  CHECK(error_of("shell(curl $X:*)").contains("one command"));
  CHECK(error_of("shell(echo 'x:*)").contains("one command"));
  CHECK(error_of("read_file(../x)").contains("without .."));
  CHECK(error_of("read_file(src/../../x)").contains("without .."));
  CHECK(error_of("read_file(~ada/x)").contains("~/"));
  CHECK(error_of("read_file(src:*)").contains("/**"));
  CHECK(error_of("read_file([a]*)").contains("may contain"));
  CHECK(error_of("web_fetch(https://x.org/a)").contains("host"));
  CHECK(error_of("web_fetch(*)x)").contains("host"));
  CHECK(error_of("web_fetch(ex*mple.com)").contains("host"));
  CHECK(error_of("update_plan(x)").contains("update_plan"));
  CHECK(error_of("mcp__a__b(x)").contains("mcp__a__b"));
  CHECK(error_of("mcp__*__b").contains("end"));
  CHECK(error_of("shell(ls)") == "");
  CHECK(error_of("shell(*)") == "");
  CHECK(error_of("mcp__files") == "");
  CHECK(error_of("mcp__files__*") == "");
}

TEST_CASE("a rule in Claude Code's form is refused with the form to write") {
  CHECK(error_of("Bash(git log:*)").ends_with("there is no tool Bash; write shell(git log:*)."));
  CHECK(error_of("Read(./.env)").ends_with("write read_file(./.env)."));
  CHECK(error_of("Edit").ends_with("write edit_file."));
}

TEST_CASE("a rule about a reserved name is refused, and one that is stored matches no call") {
  CHECK(error_of("web_search").contains("there is no tool web_search"));
  CHECK(error_of("wait_subagents") == "");
  CHECK_FALSE(rule_from_claude("Task"));
  const std::vector<schema::PolicyRule> stored = {{RuleEffect::allow, "web_search"}};
  const auto rules = compile(stored, ToolNames::reserved_too);
  REQUIRE(rules);
  CHECK_FALSE(is_about(rules->all[0], "shell"));
  CHECK_FALSE(compile({{RuleEffect::allow, "no_such_tool"}}, ToolNames::reserved_too));
}

TEST_CASE("a rule of commands may say that it is about leaving the sandbox too") {
  const auto read = [](std::string rule) {
    const auto rules = one(std::move(rule));
    REQUIRE(rules);
    return rules->all[0];
  };
  CHECK(read("shell(npm publish, outside)").words == std::vector<std::string>{"npm", "publish"});
  CHECK(read("shell(npm publish, outside)").outside);
  CHECK(read("shell(git push:*, outside)").kind == Rule::Kind::prefix);
  CHECK(read("shell(git push:*,outside)").outside);
  CHECK(read("shell(*, outside)").kind == Rule::Kind::tool);
  CHECK(read("shell(\"a && b\", outside)").pattern == "a && b");
  CHECK(read("shell(\"a && b\", outside)").outside);
  CHECK_FALSE(read("shell(\"echo a, outside\")").outside);
  CHECK_FALSE(read("shell(echo a, 'outside')").outside);
  CHECK_FALSE(read("shell(outside)").outside);
  CHECK_FALSE(read("shell(run outside)").outside);
  CHECK_FALSE(read("write_file(a, outside)").outside);
  CHECK(error_of("shell(, outside)").contains("write shell"));
  CHECK(text_rule("shell", "a", Reach::outside) == "shell(\"a\", outside)");
  CHECK(read(text_rule("shell", "a, outside", Reach::outside)).pattern == "a, outside");
  CHECK_FALSE(rule_from_claude("Bash(npm publish, outside)"));
}

TEST_CASE("paths are compared by whole names") {
  CHECK(fits("write_file(src/**)", "/ws/src/a/b.c"));
  CHECK(fits("write_file(./src/**)", "/ws/src/a.c"));
  CHECK_FALSE(fits("write_file(src/**)", "/ws/src-evil/a.c"));
  CHECK_FALSE(fits("write_file(src/**)", "/ws-evil/src/a.c"));
  CHECK_FALSE(fits("write_file(src/*.c)", "/ws/src/a/b.c"));
  CHECK(fits("write_file(src/*.c)", "/ws/src/b.c"));
  CHECK(fits("write_file(**/*.c)", "/ws/src/a/b.c"));
  CHECK(fits("write_file(**/*.c)", "/ws/b.c"));
  CHECK(fits("write_file(src/?.c)", "/ws/src/b.c"));
  CHECK_FALSE(fits("write_file(src/?.c)", "/ws/src/bb.c"));
  CHECK(fits("read_file(/etc/hosts)", "/etc/hosts"));
  CHECK_FALSE(fits("read_file(/etc/hosts)", "/ws/etc/hosts"));
  CHECK(fits("read_file(~/notes/)", "/users/ada/notes/a"));
  CHECK_FALSE(fits("read_file(~/notes/)", "/ws/notes/a"));
  CHECK(fits("read_file(src/)", "/ws/src/a/b.c"));
  CHECK_FALSE(fits("read_file(src)", "/ws/src/a/b.c"));
  CHECK(fits("read_file(./.env)", "/ws/.env", RuleEffect::deny));
  CHECK(fits("read_file(secrets)", "/ws/secrets/key", RuleEffect::deny));
  CHECK(fits("read_file(secrets/)", "/ws/secrets", RuleEffect::deny));
  CHECK_FALSE(fits("read_file(./.env)", "/ws/.env.example", RuleEffect::deny));
}

TEST_CASE("a path is made normal by its letters") {
  CHECK(normal_path("a/./b//c/", "/ws", "/h") == "/ws/a/b/c");
  CHECK(normal_path("../x", "/ws", "/h") == "/x");
  CHECK(normal_path("../../../x", "/ws", "/h") == "/x");
  CHECK(normal_path("~/x", "/ws", "/h") == "/h/x");
  CHECK(normal_path("~x", "/ws", "/h") == "/ws/~x");
  CHECK(normal_path("/", "/ws", "/h") == "/");
  CHECK(is_within("/ws/a", "/ws"));
  CHECK(is_within("/ws", "/ws"));
  CHECK_FALSE(is_within("/ws-evil/a", "/ws"));
}

TEST_CASE("hosts are compared from their end, name by name") {
  const auto fits_host = [](std::string_view address, std::string_view pattern) {
    return host_fits(host_of(address), pattern);
  };
  CHECK(fits_host("https://example.com/x", "example.com"));
  CHECK(fits_host("https://EXAMPLE.com.:8080/x", "example.com"));
  CHECK(fits_host("https://a.example.com", "*.example.com"));
  CHECK(fits_host("https://a.b.example.com", "*.example.com"));
  CHECK_FALSE(fits_host("https://example.com", "*.example.com"));
  CHECK_FALSE(fits_host("https://a.example.com", "example.com"));
  CHECK_FALSE(fits_host("https://example.com.evil.org/", "example.com"));
  CHECK_FALSE(fits_host("https://example.com.evil.org/", "*.example.com"));
  CHECK_FALSE(fits_host("https://evilexample.com/", "*.example.com"));
  CHECK_FALSE(fits_host("https://example.com@evil.org/", "example.com"));
  CHECK_FALSE(fits_host("https://evil.org\\@example.com/", "example.com"));
  CHECK_FALSE(fits_host("https://evil.org#@example.com/", "example.com"));
  CHECK_FALSE(fits_host("https://evil.org?example.com", "example.com"));
  CHECK_FALSE(fits_host("", "example.com"));
}

TEST_CASE("rules of Claude Code are taken over where there is a counterpart") {
  CHECK(rule_from_claude("Bash(git log:*)") == "shell(git log:*)");
  CHECK(rule_from_claude("Bash(git log *)") == "shell(git log:*)");
  CHECK(rule_from_claude("Bash(npm run build)") == "shell(npm run build)");
  CHECK(rule_from_claude("Bash") == "shell");
  CHECK(rule_from_claude("Bash(*)") == "shell");
  CHECK(rule_from_claude("Read(./.env)") == "read_file(./.env)");
  CHECK(rule_from_claude("Read(//etc/hosts)") == "read_file(/etc/hosts)");
  CHECK(rule_from_claude("Edit(/src/**)") == "edit_file(./src/**)");
  CHECK(rule_from_claude("Read(~/.ssh/**)") == "read_file(~/.ssh/**)");
  CHECK(rule_from_claude("WebFetch(domain:example.com)") == "web_fetch(domain:example.com)");
  CHECK(rule_from_claude("mcp__files__read") == "mcp__files__read");
  CHECK_FALSE(rule_from_claude("Task(x)"));
  CHECK_FALSE(rule_from_claude("Task"));
  CHECK_FALSE(rule_from_claude("TodoWrite"));
  CHECK_FALSE(rule_from_claude("(x)"));
  CHECK(rule_from_claude("Glob") == "list_files");
  CHECK_FALSE(rule_from_claude("Bash(a; b)"));
  CHECK_FALSE(rule_from_claude("Bash(a"));
}

TEST_CASE("a deny of one file tool holds for those that do the same") {
  const auto about = [](std::string rule, RuleEffect effect, std::string_view tool) {
    return is_about(one(std::move(rule), effect)->all[0], tool);
  };
  CHECK(about("read_file(./.env)", RuleEffect::deny, "search_files"));
  CHECK(about("read_file(./.env)", RuleEffect::deny, "edit_file"));
  CHECK_FALSE(about("read_file(./.env)", RuleEffect::deny, "write_file"));
  CHECK(about("write_file(./x)", RuleEffect::ask, "edit_file"));
  CHECK_FALSE(about("write_file(./x)", RuleEffect::deny, "read_file"));
  CHECK_FALSE(about("read_file(./x)", RuleEffect::allow, "search_files"));
  for (const char* rule : {"write_file", "write_file(*)", "edit_file"})
    for (const char* tool : {"write_file", "edit_file"}) CHECK(about(rule, RuleEffect::deny, tool));
  CHECK(about("read_file", RuleEffect::ask, "search_files"));
  CHECK(about("read_file", RuleEffect::deny, "list_files"));
  CHECK_FALSE(about("write_file", RuleEffect::allow, "edit_file"));
  CHECK_FALSE(about("search_files", RuleEffect::deny, "read_file"));
  CHECK(about("mcp__files", RuleEffect::allow, "mcp__files__read"));
  CHECK_FALSE(about("mcp__files", RuleEffect::allow, "mcp__files2__read"));
}

}  // namespace agentrt::policy
