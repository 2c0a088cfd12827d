// channels/protocols/session_tap.h: follows the facts of a session inside the server, as a client
// of its event stream does: stored facts first, then live ones, in order and without gaps.
//
// If the listener takes no more, the tap waits until resume(). A tap that falls too far behind
// reads from disk, like any subscriber. Network thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/event_stream.h"
#include "channels/exchange.h"
#include "channels/protocols/calls.h"
#include "channels/protocols/ticker.h"

namespace agentrt::channels {

class TapListener {
 public:
  // `event`: the envelope as JSON. May close the tap.
  virtual void on_event(Sequence sequence, std::string_view type, const std::string& event) = 0;
  // Nothing follows: the stream could not be read, or was cut off.
  virtual void on_tap_ended(Error why) = 0;
  // False: deliver nothing until resume().
  virtual bool takes_events() const { return true; }

 protected:
  ~TapListener() = default;
};

class SessionTap final : public StreamPipe,
                         public Ticked,
                         public std::enable_shared_from_this<SessionTap> {
 public:
  // Begins after `start.after`. `start.session` must be set. The listener must close the tap before
  // it is destroyed. A refusal arrives as on_tap_ended(), not within this call.
  static std::shared_ptr<SessionTap> open(Services& services, const ActingAs& as, StreamStart start,
                                          TapListener& listener);
  // The listener is not called again.
  void close();
  void resume();

  std::optional<std::size_t> write_now(std::span<const iovec> bytes) override;
  void wait_writable() override { waits_ = true; }
  void close_stream() override;
  void tick(Instant now) override;

 private:
  SessionTap(Services& services, TapListener& listener)
      : services_(services), listener_(&listener) {}
  void ready(Result<std::shared_ptr<Subscriber>> subscriber);
  void take(const StreamEvent& event);
  void end(Error why);

  Services& services_;
  TapListener* listener_;  // null: closed
  std::shared_ptr<Subscriber> subscriber_;
  EventStreamParser parser_;
  bool waits_ = false;
};

}  // namespace agentrt::channels
