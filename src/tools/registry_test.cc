#include "tools/registry.h"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "schema/arguments.h"
#include "tools/read_file.h"

namespace agentrt::tools {
namespace {

std::string judged(std::string_view tool, std::string args) {
  const auto wrong = wrong_arguments(*find(tool), schema::Json{std::move(args)});
  return wrong ? wrong->message : "";
}

}  // namespace

TEST_CASE("every built-in tool has a usable schema, and describes itself and each argument") {
  for (const Tool& tool : all()) {
    CAPTURE(tool.name);
    const std::string schema(tool.input_schema());
    CHECK(!schema::unusable_schema({schema}));
    CHECK(tool.description.ends_with('.'));
    CHECK(schema.find(R"("description":"")") == std::string::npos);
  }
}

TEST_CASE("a built-in tool refuses arguments that its schema does not allow") {
  CHECK(judged("shell", R"({"command":"ls"})").empty());
  CHECK(judged("shell", R"({"command":"","cwd":3})") == "command: must not be empty");
  CHECK(judged("shell", R"({"command":"ls","timeoutMs":0})") != "");
  CHECK(judged("shell", R"({"command":"ls","timeoutMs":1.5e3})").empty());
  CHECK(judged("shell", R"({"command":"ls","timeoutMs":1.5})") ==
        "timeoutMs: expected a whole number, but got a number");
  CHECK(judged("shell", R"({"command":"ls","timeoutMs":1e9})") ==
        "timeoutMs: must be at most 3600000");
  CHECK(judged("read_file", R"({"path":"x","offset":3.0})").empty());
  CHECK(judged("read_file", R"({"file":"x"})") == "path: is required and missing");
  CHECK(judged("update_plan", R"({"plan":[{"step":"a","status":"done"}]})") != "");
  CHECK(judged("ask_user", R"({"question":"Which one?","choices":["a","b"]})").empty());
  CHECK(judged("web_fetch", R"({"url":"https://example.org/","maxBytes":1e3})").empty());
  CHECK(judged("web_fetch", R"({"url":"http://example.org/"})") == "url: must begin with https://");
  CHECK(judged("web_fetch", R"({"url":"https://example.org/","maxBytes":0})") != "");
}

TEST_CASE("whole numbers in the arguments of a tool may have a fraction or an exponent") {
  const auto offset_of = [](std::string_view number) {
    ReadFileArgs args;
    const auto done = schema::from_json(R"({"path":"a","offset":)" + std::string(number) + "}",
                                        args, schema::Unknown::refuse);
    return done ? std::to_string(args.offset.value()) : done.error().message;
  };
  CHECK(offset_of("1") == "1");
  CHECK(offset_of("1.0") == "1");
  CHECK(offset_of("1e3") == "1000");
  CHECK(offset_of("12.50e1") == "125");
  CHECK(offset_of("-0.0") == "0");
  CHECK(offset_of("18446744073709551615") == "18446744073709551615");
  CHECK(offset_of("9007199254740992.0") == "9007199254740992");
  const std::string refused = "offset: expected a whole number, 0 or more";
  for (const char* number : {"1.5", "-1", "-1.0", "1e-1", "9007199254740994.0", "1e300", "1e400",
                             "18446744073709551616", R"("1")", "null", "[1]"})
    CHECK(offset_of(number) == refused);
}

TEST_CASE("the parts of every descriptor agree") {
  for (const Tool& tool : all()) {
    CAPTURE(tool.name);
    const auto has_argument = [&](std::string_view name) {
      return std::ranges::find(tool.arguments, name, &schema::Argument::name) !=
             tool.arguments.end();
    };
    CHECK(tool.runs != Runner::server);
    CHECK((tool.runs == Runner::process) == (tool.command != nullptr));
    CHECK((tool.runs == Runner::session) == (tool.run != nullptr));
    CHECK((tool.runs == Runner::person) == (tool.question != nullptr));
    CHECK((tool.runs == Runner::agent) == (tool.agent_call != nullptr));
    CHECK((tool.rules == RuleForm::command) == (tool.runs == Runner::process));
    CHECK((tool.rules == RuleForm::path) == !tool.path.name.empty());
    CHECK((tool.rules == RuleForm::host) == (tool.runs == Runner::web));
    CHECK((tool.rules == RuleForm::host) == (tool.address != nullptr));
    CHECK((tool.path.name.empty() || has_argument(tool.path.name)));
    CHECK_FALSE((tool.side_by_side && tool.access != Access::read));
    for (const NamePair& pair : tool.claude.arguments) CHECK(has_argument(pair.ours));
    for (const std::string_view other : tool.also_denied_by)
      CHECK((other.empty() || (find(other) && find(other)->rules == tool.rules)));
    CHECK(find(tool.name) == &tool);
    CHECK_FALSE(find_reserved(tool.name));
  }
}

TEST_CASE("a name that is not built in is taken for an MCP tool that may do anything") {
  CHECK(runner_of("mcp__a__b") == Runner::server);
  CHECK(access_of("mcp__a__b") == Access::execute);
  CHECK(rule_form_of("mcp__a__b") == RuleForm::arguments);
  CHECK(path_in("mcp__a__b", R"({"path":"x"})") == "x");
  CHECK_FALSE(command_in("mcp__a__b", R"({"command":"ls"})"));
  CHECK_FALSE(question_in("mcp__a__b", R"({"question":"?"})"));
}

TEST_CASE("reserved names have no tool") {
  for (const ReservedName& reserved : reserved_names()) {
    CAPTURE(reserved.name);
    CHECK(runner_of(reserved.name) == Runner::server);
  }
  CHECK(agent_call_in("wait_subagents", "{}"));
  CHECK_FALSE(agent_call_in("shell", R"({"command":"ls"})"));
}

TEST_CASE("a call says which path, address, command or question it is about") {
  CHECK(address_in("web_fetch", R"({"url":"HTTPS://Example.org:443"})") == "https://example.org/");
  CHECK_FALSE(address_in("read_file", R"({"path":"https://example.org/"})"));
  CHECK(path_in("read_file", R"({"path":"a/b","limit":2})") == "a/b");
  CHECK(path_in("list_files", R"({"depth":2})") == std::nullopt);
  CHECK(path_in("shell", R"({"command":"ls","path":"x"})") == std::nullopt);
  const auto command = command_in("shell", R"({"command":"ls","cwd":"src","background":true})");
  REQUIRE(command);
  CHECK(command->text == "ls");
  CHECK(command->cwd == "src");
  CHECK(command->background);
  CHECK_FALSE(command->outside_sandbox);
  CHECK_FALSE(command_in("shell", R"({"command":1})"));
  CHECK_FALSE(command_in("read_file", R"({"path":"x"})"));
  const auto question = question_in("ask_user", R"({"question":"Which?","choices":["a","b"]})");
  REQUIRE(question);
  CHECK(question->text == "Which?");
  CHECK(question->choices == std::vector<std::string>{"a", "b"});
}

TEST_CASE("a session tool returns its result at once") {
  const std::string args = R"({"plan":[{"step":"look","status":"pending"}]})";
  const auto result = find("update_plan")->run({args, {}});
  REQUIRE(result);
  CHECK(result->text == "The plan was updated.");
  CHECK(result->item_text == args);
  CHECK_FALSE(find("update_plan")->run({"{}", {}}));
}

}  // namespace agentrt::tools
