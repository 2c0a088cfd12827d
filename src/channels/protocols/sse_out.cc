#include "channels/protocols/sse_out.h"

#include <fmt/format.h>

namespace agentrt::channels {
namespace {

constexpr std::size_t kCompactBytes = std::size_t{64} << 10;

std::string stream_head(const Head& request) {
  return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
         "X-Content-Type-Options: nosniff\r\nX-Accel-Buffering: no\r\nConnection: close\r\n" +
         cors_fields(request) + "\r\n";
}

}  // namespace

std::shared_ptr<SseOut> SseOut::open(Services& services, Exchange& exchange, Calls calls) {
  const std::shared_ptr<SseOut> out(new SseOut(services.hub.limits(), std::move(calls)));
  exchange.upgrade(stream_head(exchange.request.head), [&](UpgradedPipe& pipe) {
    out->pipe_ = &pipe;
    return out;
  });
  return out;
}

void SseOut::send(std::string_view data, std::string_view id, std::string_view type) {
  if (!open()) return;
  if (!id.empty()) queued_ += fmt::format("id: {}\n", id);
  if (!type.empty()) queued_ += fmt::format("event: {}\n", type);
  queued_ += fmt::format("data: {}\n\n", data);
  flush();
}

void SseOut::flush() {
  while (pipe_ && !waits_ && sent_ < queued_.size()) {
    const iovec piece{queued_.data() + sent_, queued_.size() - sent_};
    const auto taken = pipe_->write_now({&piece, 1});
    if (!taken) {
      pipe_->close_stream();
      return;
    }
    progress_ = Clock::now();
    sent_ += *taken;
    if (sent_ < queued_.size()) {
      waits_ = true;
      pipe_->wait_writable();
    }
  }
  if (sent_ == queued_.size() || sent_ >= kCompactBytes) {
    queued_.erase(0, sent_);
    sent_ = 0;
  }
  if (finishing_ && queued_.empty() && pipe_) pipe_->end_stream();
}

void SseOut::finish() {
  if (!open()) return;
  finishing_ = true;
  calls_ = {};
  flush();
}

void SseOut::on_writable() {
  const auto self = shared_from_this();
  waits_ = false;
  flush();
  const auto on_room = calls_.on_room;  // it may finish the stream
  if (open() && has_room() && on_room) on_room();
}

void SseOut::tick(Instant now) {
  const auto self = shared_from_this();
  if (!pipe_) return;
  if (sent_ < queued_.size()) {
    if (now - progress_ > limits_.stall) return pipe_->close_stream();
  } else if (open() && now - progress_ >= limits_.keepalive) {
    progress_ = now;
    queued_ += ": alive\n\n";
    flush();
  }
  const auto on_tick = calls_.on_tick;
  if (open() && on_tick) on_tick(now);
}

void SseOut::end(End why) {
  const auto self = shared_from_this();
  gone(why == End::server_stops ? Gone::server_stops : Gone::token_revoked);
  if (pipe_) pipe_->close_stream();
}

void SseOut::closed() {
  const auto self = shared_from_this();
  pipe_ = nullptr;
  gone(Gone::by_peer);
}

void SseOut::gone(Gone why) {
  const Calls calls = std::exchange(calls_, {});
  if (calls.on_gone && !finishing_) calls.on_gone(why);
}

}  // namespace agentrt::channels
