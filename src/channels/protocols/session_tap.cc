#include "channels/protocols/session_tap.h"

#include <charconv>

namespace agentrt::channels {
namespace {

// The largest fact, with room for its envelope.
constexpr std::size_t kEventBytesMax = std::size_t{8} << 20;

Sequence sequence_in(std::string_view id) {
  Sequence out = 0;
  std::from_chars(id.data(), id.data() + id.size(), out);
  return out;
}

}  // namespace

std::shared_ptr<SessionTap> SessionTap::open(Services& services, const ActingAs& as,
                                             StreamStart start, TapListener& listener) {
  const std::shared_ptr<SessionTap> tap(new SessionTap(services, listener));
  tap->parser_ = EventStreamParser(kEventBytesMax);
  services.ticker.add(tap);
  auto allowed = Authorization::events(as.identity.get(), std::move(start));
  if (!allowed) {
    services.inbox->post([weak = std::weak_ptr(tap), why = allowed.error()]() mutable {
      if (const auto self = weak.lock()) self->end(std::move(why));
    });
    return tap;
  }
  services.hub.open(*std::move(allowed), [&services, weak = std::weak_ptr(tap)](
                                             Result<std::shared_ptr<Subscriber>> subscriber) {
    if (const auto self = weak.lock(); self && self->listener_)
      self->ready(std::move(subscriber));
    else if (subscriber)
      services.hub.close(**subscriber);
  });
  return tap;
}

void SessionTap::ready(Result<std::shared_ptr<Subscriber>> subscriber) {
  if (!subscriber) return end(std::move(subscriber).error());
  subscriber_ = *std::move(subscriber);
  const auto self = shared_from_this();
  const auto keep = subscriber_;
  keep->attach(*this, "");
}

// The subscriber may be writing to this tap: it is detached afterwards.
void SessionTap::close() {
  listener_ = nullptr;
  if (auto subscriber = std::exchange(subscriber_, nullptr))
    services_.inbox->post([self = shared_from_this(), subscriber = std::move(subscriber)] {
      self->services_.hub.close(*subscriber);
    });
}

void SessionTap::resume() {
  if (!std::exchange(waits_, false)) return;
  const auto self = shared_from_this();
  if (const auto subscriber = subscriber_) subscriber->on_writable();
}

// Takes everything or nothing, so that what was accepted is never needed again.
std::optional<std::size_t> SessionTap::write_now(std::span<const iovec> bytes) {
  std::size_t taken = 0;
  const auto self = shared_from_this();
  for (const iovec& piece : bytes) {
    if (!listener_) return std::nullopt;
    if (!listener_->takes_events()) return taken;
    auto events = parser_.feed({static_cast<const char*>(piece.iov_base), piece.iov_len});
    if (!events) return std::nullopt;
    for (const StreamEvent& event : *events) take(event);
    taken += piece.iov_len;
  }
  if (!listener_) return std::nullopt;
  return taken;
}

void SessionTap::take(const StreamEvent& event) {
  if (!listener_) return;
  if (event.type == "stream.overflow" || event.type == "stream.error")
    return end({Code::unavailable, "the event stream was cut off; try again", {}});
  listener_->on_event(sequence_in(event.id), event.type, event.data);
}

void SessionTap::close_stream() {
  end({Code::unavailable, "the event stream has ended; try again", {}});
}

void SessionTap::tick(Instant now) {
  const auto self = shared_from_this();
  if (const auto subscriber = subscriber_; subscriber && !waits_) subscriber->tick(now);
}

void SessionTap::end(Error why) {
  const auto self = shared_from_this();
  TapListener* const listener = listener_;
  close();
  if (listener) listener->on_tap_ended(std::move(why));
}

}  // namespace agentrt::channels
