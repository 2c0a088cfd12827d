#include "channels/websocket/outbox.h"

#include <algorithm>

namespace agentrt::channels {

// A subscription that is not finished closes only because the peer does not read or is gone. That
// concerns the whole connection.
void Outbox::Lane::close_stream() {
  if (!subscriber_->finished()) return outbox_.pipe_.close_stream();
  const std::function<void()> ended = ended_;  // may destroy the lane
  ended();
}

void Outbox::send(std::string frame) {
  if (queue_.empty()) progress_ = Clock::now();
  bytes_ += frame.size();
  queue_.push_back(piece_of(std::move(frame)));
  if (!armed_ && !holder_) flush();
}

std::optional<std::size_t> Outbox::write_for(const Lane& lane, std::span<const iovec> bytes) {
  const bool may_write = holder_ ? holder_ == &lane : queue_.empty();
  if (armed_ || !may_write) return 0;
  return pipe_.write_now(bytes);
}

void Outbox::wait(Lane& lane) {
  if (lane.subscriber()->mid_message())
    holder_ = &lane;
  else if (holder_ == &lane)
    holder_ = nullptr;
  if (std::ranges::find(waiting_, &lane) == waiting_.end()) waiting_.push_back(&lane);
  arm();
}

// The rest of a message that the lane began stays in the queue.
void Outbox::remove(Lane& lane) {
  if (holder_ == &lane) {
    Pieces rest = lane.subscriber()->take_rest();
    for (const Piece& piece : rest) bytes_ += piece.size();
    queue_.insert(queue_.begin(), rest.begin(), rest.end());
    holder_ = nullptr;
  }
  std::erase(waiting_, &lane);
}

void Outbox::arm() {
  if (std::exchange(armed_, true)) return;
  pipe_.wait_writable();
}

void Outbox::flush() {
  const auto taken = [this](std::size_t bytes) {
    if (bytes > 0) progress_ = Clock::now();
    bytes_ -= bytes;
  };
  const Written written = write_pieces(pipe_, queue_, taken, [](const Piece&) {});
  if (written == Written::broken) return pipe_.close_stream();
  if (written == Written::some) arm();
}

void Outbox::on_writable() {
  armed_ = false;
  if (Lane* const lane = holder_) {
    std::erase(waiting_, lane);
    const auto subscriber = lane->subscriber();
    subscriber->on_writable();
    if (armed_) return;
    if (holder_ == lane) holder_ = nullptr;
  }
  flush();
  for (std::size_t turns = waiting_.size(); turns > 0 && !armed_ && !waiting_.empty(); --turns) {
    const auto subscriber = waiting_.front()->subscriber();
    waiting_.pop_front();
    subscriber->on_writable();
  }
}

}  // namespace agentrt::channels
