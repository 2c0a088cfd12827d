#include "base/typed_line.h"

#include <doctest/doctest.h>

#include <deque>

namespace agentrt {
namespace {

class FakeKeys final : public Keys {
 public:
  void discard() override { held.clear(); }
  void echo(bool on) override { echoes = on; }
  std::optional<std::string> pressed() override {
    if (ended) return std::nullopt;
    if (held.empty()) return "";
    std::string out = held.front();
    held.pop_front();
    return out;
  }

  std::deque<std::string> held;
  bool echoes = true;
  bool ended = false;
};

using Outcome = TypedLine::Outcome;

}  // namespace

TEST_CASE("keys that were pressed before the question or within its quiet time do not count") {
  FakeKeys keys;
  TypedLine line(keys, TypedLine::kQuietMs);
  keys.held = {"y\n"};
  line.ask(1'000);
  CHECK(line.quiet());
  CHECK_FALSE(keys.echoes);
  CHECK(keys.held.empty());
  keys.held = {"y\n"};
  CHECK(line.read(1'499).outcome == Outcome::nothing);
  CHECK(line.quiet());
  CHECK(line.read(1'500).outcome == Outcome::nothing);
  CHECK_FALSE(line.quiet());
  CHECK(keys.echoes);
  CHECK(keys.held.empty());
}

TEST_CASE("a line that is typed afterwards counts, in any number of pieces") {
  FakeKeys keys;
  TypedLine line(keys, TypedLine::kQuietMs);
  line.ask(0);
  CHECK(line.read(500).outcome == Outcome::nothing);
  keys.held = {"n not", " here"};
  CHECK(line.read(600).outcome == Outcome::nothing);
  keys.held = {"\r\ny\n"};
  const auto typed = line.read(700);
  CHECK(typed.outcome == Outcome::line);
  CHECK(typed.line == "n not here");
  // The line after it was typed before the next question.
  CHECK_FALSE(keys.echoes);
  line.ask(800);
  CHECK(line.read(1'300).outcome == Outcome::nothing);
}

TEST_CASE("a question without a quiet time reads what is there after it was asked") {
  FakeKeys keys;
  TypedLine line(keys, 0);
  line.ask(5);
  CHECK(line.read(5).outcome == Outcome::nothing);
  keys.held = {"1\n"};
  CHECK(line.read(5).line == "1");
}

TEST_CASE("the end of the input and a line that is too long end the question") {
  FakeKeys keys;
  TypedLine line(keys, 0);
  line.ask(0);
  CHECK(line.read(0).outcome == Outcome::nothing);
  for (int i = 0; i < 3; ++i) {
    keys.held = {std::string(TypedLine::kBytesMax, 'x')};
    CHECK(line.read(1).outcome == Outcome::nothing);
  }
  keys.held = {"\n"};
  CHECK(line.read(1).outcome == Outcome::too_long);
  CHECK(line.read(1).outcome == Outcome::nothing);
  line.ask(2);
  keys.ended = true;
  CHECK(line.read(2).outcome == Outcome::ended);
  CHECK(line.read(3).outcome == Outcome::nothing);
}

TEST_CASE("a question that is withdrawn discards what was typed for it") {
  FakeKeys keys;
  TypedLine line(keys, 0);
  line.ask(0);
  CHECK(line.read(0).outcome == Outcome::nothing);
  keys.held = {"y"};
  CHECK(line.read(1).outcome == Outcome::nothing);
  line.stop();
  CHECK_FALSE(keys.echoes);
  line.ask(2);
  CHECK(line.read(2).outcome == Outcome::nothing);
  keys.held = {"\n"};
  const auto typed = line.read(3);
  CHECK(typed.outcome == Outcome::line);
  CHECK(typed.line.empty());
}

}  // namespace agentrt
