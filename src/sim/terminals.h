// sim/terminals.h: simulated terminals, at which a person types answers to questions.
//
// A terminal shows the question that its session waits for, as soon as the question is published.
// The person presses keys at any time: long before a question, as it appears, or after it was
// read. Which keys answer is decided by the same code as in the product (base/typed_line.h); that
// they were pressed when the question was readable is checked here. Core thread only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/typed_line.h"
#include "sim/checks.h"
#include "sim/plan.h"

namespace agentrt::sim {

// The keyboard of a terminal, with the time of each key.
class FakeKeys final : public Keys {
 public:
  // `discards` false: the planted defect, a terminal that keeps keys which must be dropped.
  explicit FakeKeys(bool discards) : discards_(discards) {}

  void press(std::string keys, std::int64_t now_ms) { held_.emplace_back(std::move(keys), now_ms); }
  // When the keys that were read since the last call were pressed: the earliest.
  std::optional<std::int64_t> take_earliest() { return std::exchange(earliest_ms_, std::nullopt); }

  void discard() override;
  void echo(bool /*on*/) override {}
  std::optional<std::string> pressed() override;

 private:
  bool discards_;
  std::vector<std::pair<std::string, std::int64_t>> held_;
  std::optional<std::int64_t> earliest_ms_;
};

class Terminals {
 public:
  using Waiting = std::function<std::optional<Question>(const SessionId&)>;
  using Answer = std::function<void(std::uint32_t client, const Question&, bool yes)>;

  // `waiting` returns the question that a session waits for; `answer` sends an answer to it.
  Terminals(bool discards, Waiting waiting, Answer answer, std::function<void(Violation)> broken);

  // The client presses keys at its terminal for the session.
  void type(std::uint32_t client, const SessionId& session, bool yes, std::int64_t now_ms);
  // The session has changed: its terminals draw a new question, or remove one that is answered.
  void look(const SessionId& session, std::int64_t now_ms);
  // Every terminal reads its keyboard.
  void read(std::int64_t now_ms);

 private:
  struct Terminal {
    explicit Terminal(bool discards) : keys(discards), line(keys, TypedLine::kQuietMs) {}
    FakeKeys keys;
    TypedLine line;
    std::optional<Question> shown;
    std::int64_t drawn_ms = 0;
  };
  using Key = std::pair<std::uint32_t, SessionId>;

  void draw(Terminal& terminal, const SessionId& session, std::int64_t now_ms);

  bool discards_;
  Waiting waiting_;
  Answer answer_;
  std::function<void(Violation)> broken_;
  std::map<Key, std::unique_ptr<Terminal>> terminals_;
};

}  // namespace agentrt::sim
