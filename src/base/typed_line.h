// base/typed_line.h: reads one line that is typed at a terminal after it was asked for.
//
// A key that was pressed before the question was on the screen, or just as it appeared, is not an
// answer to it. A terminal keeps pressed keys until they are read. So ask() discards them, and the
// first read() that is at least `quiet_ms` later discards them once more; keys count from then on.
// Whole lines are read: no key answers without Enter.
//
// Neither the clock nor the terminal is used directly, so that a simulation can type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace agentrt {

// The keyboard of a terminal.
class Keys {
 public:
  virtual ~Keys() = default;

  // Drops the keys that were pressed and not read.
  virtual void discard() = 0;
  // Whether the terminal shows the keys that are pressed.
  virtual void echo(bool on) = 0;
  // The keys that were pressed and not read; may be only a part of them. Empty: none. nullopt: the
  // input has ended. Never blocks.
  virtual std::optional<std::string> pressed() = 0;
};

class TypedLine {
 public:
  // How long keys are ignored after a question was drawn.
  static constexpr std::int64_t kQuietMs = 500;
  static constexpr std::size_t kBytesMax = 64 * 1024;

  enum class Outcome { nothing, line, too_long, ended };
  struct Typed {
    Outcome outcome = Outcome::nothing;
    std::string line;  // without the line break
  };

  TypedLine(Keys& keys, std::int64_t quiet_ms) : keys_(keys), quiet_ms_(quiet_ms) {}

  // The question was drawn. Times are of a monotonic clock.
  void ask(std::int64_t now_ms);
  // No line is wanted any more: what was typed so far and what is typed from now on is discarded.
  void stop();
  // Call when the quiet time has passed and whenever keys were pressed. Anything but `nothing`
  // ends the question, as stop() does.
  Typed read(std::int64_t now_ms);

  // Asked, and the keys do not count yet.
  bool quiet() const { return state_ == State::quiet; }

 private:
  enum class State { idle, quiet, reading };

  Typed finish(Outcome outcome, std::string line = {});

  Keys& keys_;
  std::int64_t quiet_ms_;
  State state_ = State::idle;
  std::int64_t counts_from_ms_ = 0;
  std::string typed_;
};

}  // namespace agentrt
