// channels/websocket/outbox.h: everything that is written to one WebSocket.
//
// Replies and the events of many subscriptions share the connection. A message that was written in
// part is completed before another begins: its sender holds the connection until then. Replies go
// before events. Network thread only.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "channels/subscriber.h"

namespace agentrt::channels {

class Outbox {
 public:
  // The part of the connection that one subscription writes to.
  class Lane final : public StreamPipe {
   public:
    // `ended`: the subscription has sent its last message. It may destroy the lane.
    Lane(Outbox& outbox, std::shared_ptr<Subscriber> subscriber, std::function<void()> ended)
        : outbox_(outbox), subscriber_(std::move(subscriber)), ended_(std::move(ended)) {}
    // Writes nothing more. The rest of a message that is written in part is still sent. Call before
    // the subscriber is detached and the lane is destroyed.
    void leave() { outbox_.remove(*this); }

    const std::shared_ptr<Subscriber>& subscriber() const { return subscriber_; }

    std::optional<std::size_t> write_now(std::span<const iovec> bytes) override {
      return outbox_.write_for(*this, bytes);
    }
    void wait_writable() override { outbox_.wait(*this); }
    void close_stream() override;

   private:
    Outbox& outbox_;
    const std::shared_ptr<Subscriber> subscriber_;
    const std::function<void()> ended_;
  };

  // `pipe` outlives the outbox.
  explicit Outbox(StreamPipe& pipe) : pipe_(pipe) {}

  // Queues a complete frame and writes what the peer accepts.
  void send(std::string frame);
  // Whether everything that was sent has been accepted.
  bool empty() const { return queue_.empty() && !holder_; }
  std::size_t unread_bytes() const { return bytes_; }
  // When the peer last accepted a byte or nothing was waiting.
  bool stalled(Instant now, Duration limit) const {
    return !queue_.empty() && now - progress_ > limit;
  }
  void on_writable();

 private:
  std::optional<std::size_t> write_for(const Lane& lane, std::span<const iovec> bytes);
  void wait(Lane& lane);
  void remove(Lane& lane);
  void flush();
  void arm();

  StreamPipe& pipe_;
  Pieces queue_;
  std::size_t bytes_ = 0;      // in queue_
  Lane* holder_ = nullptr;     // has written part of a message
  std::deque<Lane*> waiting_;  // to write again, in turn
  bool armed_ = false;         // on_writable() will be called
  Instant progress_ = Clock::now();
};

}  // namespace agentrt::channels
