// channels/desk/channel_desk.h: the connected channels of this process, over all transports.
//
// Every command passes here on its way to the core. connect_channel and reconnect_channel attach
// the channel to the connection that they came over. When the connection ends, is silent for too
// long or falls too far behind, the desk reports it to the kernel; when the kernel stores that a
// channel was replaced or closed, the desk ends its delivery. The facts are the truth: the desk
// holds nothing that a restart would have to recover.
//
// Adapters of other protocols use the same interface as the WebSocket does: start() with a
// ChannelPeer of their own and RequestOrigin::adapter, and answer(). Network thread only.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "channels/desk/attachment.h"
#include "channels/desk/permission_bridge.h"
#include "channels/inbox.h"
#include "ports/channels.h"
#include "ports/control_plane.h"
#include "ports/metrics.h"

namespace agentrt::channels {

class ChannelDesk {
 public:
  struct Parts {
    ports::CommandSink& sink;
    ports::ChannelPlane* plane;  // null: nothing is reported
    std::shared_ptr<Inbox> inbox;
    ports::Metrics& metrics;
    std::function<Timestamp()> now;                // the wall clock
    std::function<bool(const Identity&)> expired;  // whether a token is no longer valid
    const ChannelLimits& limits;
  };

  explicit ChannelDesk(Parts parts);

  // Hears of stored facts until stop().
  void listen();

  // Passes a command to the core. A channel that the caller names must be attached and its own.
  // `reply_to` is called once, on some thread.
  void call(ports::Authorized<schema::Command> command, ports::ReplyTo reply_to);

  // Connects or resumes a channel over a connection; without a `peer`, over HTTP requests that have
  // none in common. `started` is called once, on the network thread; the attachment is null if the
  // command was refused or the channel has ended already. REQUIRES: a connect_channel or
  // reconnect_channel.
  using Started = std::move_only_function<void(ports::Reply, AttachmentPtr)>;
  void start(schema::Command command, std::shared_ptr<const Identity> identity,
             RequestOrigin origin, std::shared_ptr<ChannelPeer> peer, Started started);
  // The peer can receive requests from now on: the reply of start() was sent.
  void ready(const Attachment& attachment);

  // The attached channel; null: there is none, or it is not the caller's.
  AttachmentPtr find(const ChannelId& channel, const Identity& identity) const;

  // The peer's response to request_action.
  void answer(const ChannelId& channel, const ActionId& action, std::string_view result);
  // The connection of the channel has ended, or cannot deliver its events any more.
  void lost(const ChannelId& channel, schema::ChannelEnd reason);
  // The same for every channel of the peer.
  void lost_peer(const ChannelPeer& peer, schema::ChannelEnd reason);

  // Ends and closes the channels of a revoked token.
  void revoked(const std::string& token);
  // Ends channels whose peers are silent. Whether it must be called again.
  bool tick(Instant now);
  // Reports that the runtime stops. `done` runs when all of it is stored.
  void stop(std::function<void()> done);

  std::size_t attached() const { return attachments_.size(); }

 private:
  // A command in progress that will attach its channel.
  struct Opening {
    std::shared_ptr<const Identity> identity;
    RequestOrigin origin;
    std::weak_ptr<ChannelPeer> peer;
    bool has_peer = false;
    Started started;
    std::vector<ports::ChannelNotice> notices;  // that arrived before the reply
  };

  void noticed(const ports::ChannelNotice& notice);
  void replied(const ChannelId& channel, ports::Reply reply);
  void finish(Opening& opening, const ChannelId& channel, ports::Reply reply);
  AttachmentPtr attach(Opening& opening, const schema::StartedChannel& started);
  void detach(const AttachmentPtr& attachment);
  void end(const AttachmentPtr& attachment, schema::ChannelEnd reason);
  void report(const Attachment& attachment, schema::ChannelEnd reason);
  void acknowledged(const ChannelId& channel, Sequence sequence);
  Timestamp wall_time(Instant heard) const;

  Parts parts_;
  PermissionBridge bridge_;
  std::unordered_map<ChannelId, AttachmentPtr> attachments_;
  std::map<SessionId, std::set<ChannelId>> by_session_;
  std::unordered_map<ChannelId, Opening> opening_;
  // Further commands for a channel that is being opened, in order.
  std::unordered_map<ChannelId, std::deque<std::move_only_function<void()>>> waiting_;
  std::size_t reports_ = 0;  // that are not stored yet
  std::function<void()> stopped_;
};

}  // namespace agentrt::channels
