// channels/protocols/sse_out.h: the event stream (server-sent events) that answers one request of
// another protocol.
//
// Messages are queued until the peer reads; has_room() tells when to stop producing them. A comment
// keeps an idle stream alive. A peer that reads nothing for StreamLimits::stall is disconnected.
// Network thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "channels/exchange.h"

namespace agentrt::channels {

inline constexpr std::size_t kSseQueuedBytesMax = std::size_t{512}
                                                  << 10;  // then has_room() is false

class SseOut final : public Upgraded, public std::enable_shared_from_this<SseOut> {
 public:
  enum class Gone { by_peer, server_stops, token_revoked };
  struct Calls {
    std::function<void()> on_room;                  // there is room again
    std::function<void(Gone why)> on_gone;          // not called after finish()
    std::function<void(Instant now)> on_tick = {};  // while it is open
  };

  // Answers the exchange with a stream. `calls` may be called until it is gone or finished.
  static std::shared_ptr<SseOut> open(Services& services, Exchange& exchange, Calls calls);

  // One event. `id` and `type` may be empty. `data` has no line breaks.
  void send(std::string_view data, std::string_view id = {}, std::string_view type = {});
  bool has_room() const { return queued_.size() - sent_ < kSseQueuedBytesMax; }
  // Closes the connection after what was sent.
  void finish();
  bool open() const { return pipe_ != nullptr && !finishing_; }

  void received(std::string_view) override {}
  bool receives() const override { return true; }
  void on_writable() override;
  void tick(Instant now) override;
  void end(End why) override;
  void closed() override;

 private:
  SseOut(const StreamLimits& limits, Calls calls) : limits_(limits), calls_(std::move(calls)) {}
  void flush();
  void gone(Gone why);

  const StreamLimits& limits_;
  Calls calls_;
  UpgradedPipe* pipe_ = nullptr;
  std::string queued_;
  std::size_t sent_ = 0;
  bool waits_ = false;  // for the peer
  bool finishing_ = false;
  Instant progress_ = Clock::now();
};

}  // namespace agentrt::channels
