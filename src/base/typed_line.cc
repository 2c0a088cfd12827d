#include "base/typed_line.h"

namespace agentrt {

void TypedLine::ask(std::int64_t now_ms) {
  keys_.echo(false);
  keys_.discard();
  typed_.clear();
  counts_from_ms_ = now_ms + quiet_ms_;
  state_ = State::quiet;
}

void TypedLine::stop() {
  if (state_ == State::idle) return;
  state_ = State::idle;
  typed_.clear();
  keys_.echo(false);
  keys_.discard();
}

TypedLine::Typed TypedLine::read(std::int64_t now_ms) {
  if (state_ == State::quiet && now_ms >= counts_from_ms_) {
    keys_.discard();
    keys_.echo(true);
    state_ = State::reading;
  }
  while (state_ == State::reading) {
    const std::optional<std::string> keys = keys_.pressed();
    if (!keys) return finish(Outcome::ended);
    if (keys->empty()) break;
    typed_ += *keys;
    const std::size_t end = typed_.find('\n');
    if (end == std::string::npos) {
      // Only the length of a longer line matters.
      if (typed_.size() > kBytesMax) typed_.resize(kBytesMax + 1);
      continue;
    }
    if (end > kBytesMax) return finish(Outcome::too_long);
    std::string line = typed_.substr(0, end);
    if (line.ends_with('\r')) line.pop_back();
    return finish(Outcome::line, std::move(line));
  }
  return {};
}

TypedLine::Typed TypedLine::finish(Outcome outcome, std::string line) {
  stop();
  return {outcome, std::move(line)};
}

}  // namespace agentrt
