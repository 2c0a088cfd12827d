#include "control/own_tools.h"

#include <string>

#include <doctest/doctest.h>

#include "schema/arguments.h"

namespace agentrt::control {
namespace {

std::string judged(std::string_view tool, std::string args) {
  const auto wrong = wrong_arguments_of(*own_tool(tool), schema::Json{std::move(args)});
  return wrong ? wrong->message : "";
}

}  // namespace

TEST_CASE("every built-in tool has a usable schema, and describes itself and each argument") {
  for (const OwnTool& tool : own_tools()) {
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
  CHECK(judged("read_file", R"({"file":"x"})") == "path: is required and missing");
  CHECK(judged("update_plan", R"({"plan":[{"step":"a","status":"done"}]})") != "");
  CHECK(judged("ask_user", R"({"question":"Which one?","choices":["a","b"]})").empty());
}

}  // namespace agentrt::control
