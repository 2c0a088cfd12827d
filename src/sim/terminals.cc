#include "sim/terminals.h"

#include <algorithm>

namespace agentrt::sim {

void FakeKeys::discard() {
  if (discards_) held_.clear();
}

std::optional<std::string> FakeKeys::pressed() {
  if (held_.empty()) return "";
  const auto [keys, when_ms] = held_.front();
  held_.erase(held_.begin());
  earliest_ms_ = std::min(earliest_ms_.value_or(when_ms), when_ms);
  return keys;
}

Terminals::Terminals(bool discards, Waiting waiting, Answer answer,
                     std::function<void(Violation)> broken)
    : discards_(discards),
      waiting_(std::move(waiting)),
      answer_(std::move(answer)),
      broken_(std::move(broken)) {}

void Terminals::type(std::uint32_t client, const SessionId& session, bool yes,
                     std::int64_t now_ms) {
  auto& terminal = terminals_[{client, session}];
  if (!terminal) {
    terminal = std::make_unique<Terminal>(discards_);
    draw(*terminal, session, now_ms);
  }
  terminal->keys.press(yes ? "y\n" : "n\n", now_ms);
  read(now_ms);
}

void Terminals::look(const SessionId& session, std::int64_t now_ms) {
  for (auto& [key, terminal] : terminals_)
    if (key.second == session) draw(*terminal, session, now_ms);
}

void Terminals::draw(Terminal& terminal, const SessionId& session, std::int64_t now_ms) {
  const std::optional<Question> question = waiting_(session);
  if (question && terminal.shown && question->action == terminal.shown->action) return;
  terminal.shown = question;
  terminal.drawn_ms = now_ms;
  if (question)
    terminal.line.ask(now_ms);
  else
    terminal.line.stop();
}

void Terminals::read(std::int64_t now_ms) {
  for (auto& [key, terminal] : terminals_) {
    const TypedLine::Typed typed = terminal->line.read(now_ms);
    if (typed.outcome != TypedLine::Outcome::line) continue;
    const std::int64_t pressed_ms = terminal->keys.take_earliest().value_or(now_ms);
    if (auto violation = check_typed(pressed_ms, terminal->drawn_ms)) broken_(*violation);
    // As at a real terminal, the question stays on the screen until the log says otherwise.
    answer_(key.first, *terminal->shown, typed.line == "y");
  }
}

}  // namespace agentrt::sim
