// channels/desk/sse_peer.h: the peer of a channel whose events are server-sent events.
//
// The client sends requests over HTTP and opens the stream GET
// /v1/sessions/{id}/events?channelId=ID. It may close that stream and open it again. If none is
// open for three ping intervals, the channel is disconnected. Network thread only.
#pragma once

#include "channels/desk/attachment.h"
#include "channels/subscriber.h"

namespace agentrt::channels {

class SsePeer final : public ChannelPeer {
 public:
  explicit SsePeer(Duration alone_max) : alone_max_(alone_max) {}

  // Uses this stream from now on. Another one that is open is closed.
  void open(const std::shared_ptr<Subscriber>& stream);

  Instant heard() const override { return Instant::min(); }  // requests have no connection
  std::optional<schema::ChannelEnd> fault(Instant now) override;
  void request_action(const ChannelId& channel, const ActionRequest& request) override;
  void cancel_action(const ChannelId& channel, const ActionId& action) override;
  void action_refused(const ChannelId& channel, const ActionId& action,
                      const Error& error) override;
  void may_deliver(const ChannelId& channel, Sequence through) override;
  void ended(const ChannelId& channel, schema::ChannelEnd reason) override;

 private:
  bool streams() const { return stream_ && !stream_->closed(); }
  void send(std::string_view event, std::string_view data);

  const Duration alone_max_;
  std::shared_ptr<Subscriber> stream_;
  Instant alone_since_ = Clock::now();  // while no stream is open
};

}  // namespace agentrt::channels
