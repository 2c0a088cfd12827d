// adapters/models/script_test.cc: tests parsing and playing the lines of a script.
#include <doctest/doctest.h>

#include <filesystem>

#include "adapters/models/script.h"
#include "adapters/models/testing/model_fixture.h"
#include "ports/testing/fake_loop.h"

namespace agentrt::adapters {

using namespace schema;

namespace {

const ModelRequestId kRequest{"mreq_1"};

ScriptLine line_of(std::string_view script, std::uint64_t number = 1) {
  const auto line = read_script_line(script, number);
  REQUIRE(line.has_value());
  return *line;
}

std::string problem_of(std::string_view script, std::uint64_t number = 1) {
  const auto line = read_script_line(script, number);
  REQUIRE_FALSE(line.has_value());
  CHECK(line.error().code == Code::invalid_params);
  return line.error().message;
}

}  // namespace

TEST_CASE("a line of a script is an answer with everything it may say") {
  const ScriptLine line =
      line_of(R"({"text":"Hi","reasoning":"Hm","deltas":20,"deltaMs":3,"delayMs":4,)"
              R"("stopReason":"max_tokens","usage":{"inputTokens":10,"outputTokens":5}})");
  CHECK(line.text == "Hi");
  CHECK(line.reasoning == "Hm");
  CHECK(line.deltas == 20);
  CHECK(line.delta_ms == 3);
  CHECK(line.delay_ms == 4);
  CHECK(line.stop_reason == StopReason::max_tokens);
  CHECK(line.usage == Usage{10, 5, {}, {}});
  CHECK_FALSE(line.fault.has_value());
}

TEST_CASE("every member of a line may be left out") {
  const ScriptLine line = line_of("{}");
  CHECK(line.text.empty());
  CHECK(line.deltas == 1);
  CHECK(line.stop_reason == StopReason::end_turn);
  CHECK(line.usage == Usage{});
}

TEST_CASE("counts and waits of a line are kept within bounds") {
  CHECK(line_of(R"({"deltas":0})").deltas == 1);
  CHECK(line_of(R"({"deltas":999999999})").deltas == 100'000);
  CHECK(line_of(R"({"deltaMs":-1})").delta_ms == 0);
  CHECK(line_of(R"({"delayMs":999999999})").delay_ms == 3'600'000);
}

TEST_CASE("lines are chosen by number, and blank ones do not count") {
  const std::string script = "\n{\"text\":\"one\"}\n  \t\r\n\n{\"text\":\"two\"}\r\n";
  CHECK(line_of(script, 1).text == "one");
  CHECK(line_of(script, 2).text == "two");
}

TEST_CASE("past its end, and without a line, a script says done") {
  for (const char* script : {"", "\n\n", "{\"text\":\"one\"}", "{\"text\":\"one\"}\n"})
    CHECK(line_of(script, 2).text == "done");
  CHECK(line_of("", 1).text == "done");
}

TEST_CASE("a line that cannot be read is refused by its number, and spoils no other") {
  const std::string script =
      "{\"text\":\"one\"}\nnot json\n{\"txet\":\"three\"}\n[1]\n{\"text\":5}";
  CHECK(line_of(script, 1).text == "one");
  CHECK(problem_of(script, 2).starts_with("line 2 of the script"));
  CHECK(problem_of(script, 3).find("txet") != std::string::npos);
  problem_of(script, 4);
  CHECK(problem_of(script, 5).find("text") != std::string::npos);
  CHECK(problem_of(R"({"fail":{"status":429,"why":"x"}})").find("why") != std::string::npos);
}

TEST_CASE("a failing line says what kind of failure it is and whether to try again") {
  struct Case {
    int status;
    Category category;
    bool retryable;
  };
  for (const Case& expected :
       {Case{429, Category::rate_limited, true}, Case{408, Category::timeout, true},
        Case{500, Category::provider, true}, Case{503, Category::provider, true},
        Case{400, Category::invalid_input, false}, Case{401, Category::denied, false},
        Case{403, Category::denied, false}, Case{404, Category::not_found, false}}) {
    CAPTURE(expected.status);
    const ScriptLine line =
        line_of(R"({"fail":{"status":)" + std::to_string(expected.status) + "}}");
    REQUIRE(line.fault.has_value());
    CHECK(line.fault->error.category == expected.category);
    CHECK(line.fault->error.retryable == expected.retryable);
    CHECK(line.fault->provider_status == static_cast<std::uint64_t>(expected.status));
    CHECK(line.fault->ended_by_provider);
    CHECK_FALSE(line.fault->retry_after_ms.has_value());
  }
  const ScriptLine line =
      line_of(R"({"fail":{"status":429,"retryAfterMs":50,"message":"slow down"},"delayMs":7})");
  CHECK(line.fault->retry_after_ms == 50);
  CHECK(line.fault->error.message == "slow down");
  CHECK(line.delay_ms == 7);
}

TEST_CASE("a text is split into pieces that add up and split no character") {
  for (const std::string text : {"", "a", "hello, world", "h\u00e9llo", "\u20ac\u20ac\u20ac",
                                 "\U0001f600 and \U0001f600\U0001f600", "\u00e9"})
    for (std::uint64_t count = 1; count <= 15; ++count) {
      CAPTURE(text);
      CAPTURE(count);
      const auto pieces = split_text(text, count);
      CHECK(pieces.size() <= count);
      std::string joined;
      for (const std::string& piece : pieces) {
        REQUIRE_FALSE(piece.empty());
        CHECK((static_cast<unsigned char>(piece.front()) & 0xc0) != 0x80);
        joined += piece;
      }
      CHECK(joined == text);
    }
  CHECK(split_text("abcdefgh", 4) == std::vector<std::string>{"ab", "cd", "ef", "gh"});
}

TEST_CASE("a script is played as fragments, then its end") {
  ports::FakeLoop loop;
  ScriptPlayer player{loop, loop.worker()};
  const ScriptFile file{"{\"text\":\"abcd\",\"reasoning\":\"xy\",\"deltas\":2}"};
  auto heard = std::make_shared<RecordingListener>();
  player.start(file.path(), kRequest, 1, heard);
  loop.run();
  CHECK(heard->said == std::vector<std::string>{"r:x", "r:y", "t:ab", "t:cd", "completed"});
}

TEST_CASE("delays of a script are waited for in the loop's time") {
  ports::FakeLoop loop;
  ScriptPlayer player{loop, loop.worker()};
  const ScriptFile file{R"({"text":"abcd","deltas":2,"deltaMs":10,"delayMs":100})"};
  auto heard = std::make_shared<RecordingListener>();
  player.start(file.path(), kRequest, 1, heard);
  loop.run_for(99);
  CHECK(heard->said.empty());
  loop.run_for(1);
  CHECK(heard->said == std::vector<std::string>{"t:ab"});
  loop.run_for(20);
  CHECK(heard->said == std::vector<std::string>{"t:ab", "t:cd", "completed"});
}

TEST_CASE("a failing line is reported as the provider's failure") {
  ports::FakeLoop loop;
  ScriptPlayer player{loop, loop.worker()};
  const ScriptFile file{R"({"text":"unsaid","fail":{"status":429,"retryAfterMs":50}})"};
  auto heard = std::make_shared<RecordingListener>();
  player.start(file.path(), kRequest, 1, heard);
  loop.run();
  CHECK(heard->said == std::vector<std::string>{"failed"});
  CHECK(heard->fault.retry_after_ms == 50);
  CHECK(heard->fault.ended_by_provider);
}

TEST_CASE("a script that cannot be read fails the request for good, a busy worker for now") {
  ports::FakeLoop loop;
  ScriptPlayer player{loop, loop.worker()};
  auto heard = std::make_shared<RecordingListener>();
  player.start("/nowhere/play.jsonl", kRequest, 1, heard);
  loop.run();
  CHECK(heard->said == std::vector<std::string>{"failed"});
  CHECK(heard->fault.error.category == Category::invalid_input);
  CHECK_FALSE(heard->fault.error.retryable);
  CHECK_FALSE(heard->fault.ended_by_provider);

  auto busy = std::make_shared<RecordingListener>();
  loop.worker().full = true;
  player.start("/nowhere/play.jsonl", kRequest, 1, busy);
  loop.run();
  CHECK(busy->fault.error.category == Category::unavailable);
  CHECK(busy->fault.error.retryable);
}

TEST_CASE("a script of more than 64 MiB fails the request") {
  ports::FakeLoop loop;
  ScriptPlayer player{loop, loop.worker()};
  const ScriptFile file{"{}\n"};
  std::filesystem::resize_file(file.path(), (64 << 20) + 1);
  auto heard = std::make_shared<RecordingListener>();
  player.start(file.path(), kRequest, 1, heard);
  loop.run();
  CHECK(heard->said == std::vector<std::string>{"failed"});
  CHECK(heard->fault.error.message.find("64 MiB") != std::string::npos);
}

TEST_CASE("a cancelled request reports nothing more") {
  ports::FakeLoop loop;
  ScriptPlayer player{loop, loop.worker()};
  const ScriptFile file{R"({"text":"abcd","deltas":4,"deltaMs":10})"};
  auto heard = std::make_shared<RecordingListener>();
  player.start(file.path(), kRequest, 1, heard);
  loop.run_for(10);
  const auto before = heard->said;
  CHECK_FALSE(before.empty());
  player.cancel(kRequest);
  loop.run();
  CHECK(heard->said == before);
}

}  // namespace agentrt::adapters
