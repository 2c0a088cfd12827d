// cli/arguments_test.cc: parsing of command lines, and the errors for invalid ones.
#include "cli/arguments.h"

#include "cli/listen_address.h"

#include <algorithm>
#include <sstream>

#include <doctest/doctest.h>

namespace agentrt::cli {
namespace {

template <class T>
T verb_of(const std::vector<std::string>& words) {
  const auto parsed = parse_arguments(words);
  REQUIRE(std::holds_alternative<Arguments>(parsed));
  return std::get<T>(std::get<Arguments>(parsed).verb);
}

Answer answer_of(const std::vector<std::string>& words) {
  const auto parsed = parse_arguments(words);
  REQUIRE(std::holds_alternative<Answer>(parsed));
  return std::get<Answer>(parsed);
}

TEST_CASE("run takes a prompt and its options in any order") {
  const auto run = verb_of<RunArguments>(
      {"run", "--model", "main", "hello", "--session", "s", "--turn-id", "t", "--yes"});
  CHECK(run.prompt == "hello");
  CHECK(run.model == "main");
  CHECK(run.session == "s");
  CHECK(run.turn_id == "t");
  CHECK(run.yes);
  CHECK(verb_of<RunArguments>({"run", "-"}).prompt == "-");
  CHECK(!verb_of<RunArguments>({"run", "--session", "s"}).prompt);
}

TEST_CASE("a prompt that starts with a dash follows two dashes") {
  CHECK(verb_of<RunArguments>({"run", "--", "--why?"}).prompt == "--why?");
}

TEST_CASE("shared options stand before or after the command") {
  for (const auto& words : {std::vector<std::string>{"--data", "/d", "--json", "sessions"},
                            std::vector<std::string>{"sessions", "--json", "--data", "/d"}}) {
    const auto parsed = parse_arguments(words);
    const auto& arguments = std::get<Arguments>(parsed);
    CHECK(arguments.data == "/d");
    CHECK(arguments.json);
  }
}

TEST_CASE("serve listens on the loopback address unless told otherwise") {
  CHECK(!verb_of<ServeArguments>({"serve"}).listen);
  CHECK(read_listen({}, {})->address == "127.0.0.1");
  CHECK(read_listen({}, {})->port == 7717);
  const auto serve = verb_of<ServeArguments>({"serve", "--host", "a", "--host", "b"});
  CHECK(serve.hosts == std::vector<std::string>{"a", "b"});
}

TEST_CASE("call takes params, or none") {
  CHECK(verb_of<CallArguments>({"call", "list_sessions"}).params == "{}");
  CHECK(verb_of<CallArguments>({"call", "x", "{\"a\":[1,2]}"}).params == "{\"a\":[1,2]}");
}

TEST_CASE("events can be filtered by several types") {
  const auto events =
      verb_of<EventsArguments>({"events", "--type", "a", "--type", "b", "s", "--after", "7"});
  CHECK(events.session == "s");
  CHECK(events.types == std::vector<std::string>{"a", "b"});
  CHECK(events.after == 7);
}

TEST_CASE("token commands are told apart") {
  const auto create = verb_of<TokenCreateArguments>({"token", "create", "--scope", "read"});
  CHECK(create.scopes == std::vector<std::string>{"read"});
  verb_of<TokenListArguments>({"token", "list"});
  CHECK(verb_of<TokenRevokeArguments>({"token", "revoke", "tok"}).token == "tok");
}

const std::vector<std::vector<std::string>> kCommands = {{},
                                                         {"run"},
                                                         {"serve"},
                                                         {"call"},
                                                         {"sessions"},
                                                         {"show"},
                                                         {"events"},
                                                         {"token"},
                                                         {"token", "create"},
                                                         {"token", "list"},
                                                         {"token", "revoke"},
                                                         {"schema"},
                                                         {"doctor"},
                                                         {"validate"},
                                                         {"sandbox"},
                                                         {"approvals"},
                                                         {"channels"},
                                                         {"tasks"},
                                                         {"approve"},
                                                         {"deny"},
                                                         {"explain"},
                                                         {"trust"}};

TEST_CASE("help has examples for every command and exits with 0") {
  for (auto words : kCommands) {
    words.emplace_back("--help");
    const Answer answer = answer_of(words);
    CHECK(answer.exit_code == 0);
    CHECK(answer.out.find("Examples:") != std::string::npos);
    CHECK(answer.out.find("Usage: agentrt") != std::string::npos);
  }
}

TEST_CASE("help fits a terminal of 80 columns") {
  for (auto words : kCommands) {
    words.emplace_back("--help");
    std::istringstream help(answer_of(words).out);
    for (std::string line; std::getline(help, line);) {
      CAPTURE(line);
      const auto columns =
          std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; });
      CHECK(columns <= 80);
    }
  }
}

TEST_CASE("the version is one line") {
  CHECK(answer_of({"--version"}).out.starts_with("agentrt "));
}

TEST_CASE("wrong usage is one sentence that names the help to read, with exit code 2") {
  for (const auto& words : std::vector<std::vector<std::string>>{{},
                                                                 {"fly"},
                                                                 {"run", "a", "b"},
                                                                 {"run", "--nope", "x"},
                                                                 {"schema", "x"},
                                                                 {"token"},
                                                                 {"token", "create"},
                                                                 {"events", "s", "--after", "x"}}) {
    const Answer answer = answer_of(words);
    CHECK(answer.exit_code == 2);
    CHECK(answer.problem.find("--help") != std::string::npos);
    CHECK(answer.problem.find('\n') == std::string::npos);
  }
  CHECK(answer_of({"run", "--nope", "--json"}).json);
  CHECK(answer_of({"--data", "d", "fly"}).problem ==
        "There is no command fly; see agentrt --help.");
  CHECK(answer_of({"token", "create"}).problem.ends_with("see agentrt token create --help."));
}

}  // namespace
}  // namespace agentrt::cli
