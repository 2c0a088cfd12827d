#include "channels/websocket/outbox.h"

#include <algorithm>
#include <array>

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
    for (const Piece& piece : rest) bytes_ += piece.end - piece.offset;
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
  constexpr std::size_t kPiecesPerWrite = 64;
  while (!queue_.empty()) {
    std::array<iovec, kPiecesPerWrite> pieces;
    std::size_t count = 0;
    std::size_t offered = 0;
    for (const Piece& piece : queue_) {
      if (count == pieces.size()) break;
      const std::size_t size = piece.end - piece.offset;
      // The pipe does not modify the bytes.
      pieces[count++] = {const_cast<char*>(piece.text->data() + piece.offset), size};
      offered += size;
    }
    const auto taken = pipe_.write_now({pieces.data(), count});
    if (!taken) return pipe_.close_stream();
    if (*taken > 0) progress_ = Clock::now();
    bytes_ -= *taken;
    std::size_t left = *taken;
    while (left > 0) {
      Piece& piece = queue_.front();
      const std::size_t size = std::min(left, piece.end - piece.offset);
      piece.offset += size;
      left -= size;
      if (piece.offset == piece.end) queue_.pop_front();
    }
    if (*taken < offered) return arm();
  }
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
