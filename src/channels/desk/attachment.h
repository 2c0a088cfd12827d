// channels/desk/attachment.h: a connected channel and the connection that it uses.
//
// The channel outlives its connections; an attachment is one of these connections. Network thread
// only.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "channels/authorization.h"
#include "channels/limits.h"
#include "schema/action_snapshot.h"
#include "schema/channels.h"

namespace agentrt::channels {

// An open action, as a peer gets it.
struct ActionRequest {
  schema::ActionSnapshot action;
  // The params of the JSON-RPC request request_action.
  std::string params;
};

// The params of cancel_action and, with an error, of action_refused.
std::string about_action(const ChannelId& channel, const ActionId& action,
                         const Error* error = nullptr);

// The other end of one connection, which may carry channels of several sessions. Implemented by the
// transports, and by adapters that speak another protocol. Network thread only. A call may destroy
// the attachment that it is about, but not the peer.
class ChannelPeer {
 public:
  // When the peer last sent something.
  virtual Instant heard() const = 0;
  // Why the connection can no longer be used, if so.
  virtual std::optional<schema::ChannelEnd> fault(Instant now) = 0;
  // Asks for a decision. ChannelDesk::answer() takes it.
  virtual void request_action(const ChannelId& channel, const ActionRequest& request) = 0;
  // The action is no longer open: another client answered first, it expired, or its turn ended.
  virtual void cancel_action(const ChannelId& channel, const ActionId& action) = 0;
  // The runtime did not accept the peer's answer.
  virtual void action_refused(const ChannelId& channel, const ActionId& action,
                              const Error& error) = 0;
  // The peer has acknowledged events, so that those up to `through` may be delivered.
  virtual void may_deliver(const ChannelId& channel, Sequence through) = 0;
  // The channel no longer uses this connection; it may be closed if it carries nothing else.
  virtual void ended(const ChannelId& channel, schema::ChannelEnd reason) = 0;

 protected:
  ~ChannelPeer() = default;
};

class SsePeer;

struct Attachment {
  ChannelId id;
  SessionId session;
  Sequence since = 0;  // of the fact that it began with
  Sequence after = 0;  // delivery starts after it
  std::shared_ptr<const Identity> identity;
  RequestOrigin origin;
  schema::Transport transport = schema::Transport::in_process;
  bool delivers = false;  // events
  bool decides = false;   // about permissions
  std::optional<std::uint64_t> ack_window;
  Sequence acknowledged = 0;
  Duration heartbeat{0};  // 0: none
  // Expired: the channel has no connection that could be lost (POST /v1/commands, POST /v1/rpc).
  std::weak_ptr<ChannelPeer> peer;
  bool has_peer = false;         // which may be gone
  std::shared_ptr<SsePeer> sse;  // the same, of a channel over server-sent events
  Instant heard = Clock::now();

  // An action that the peer was asked about.
  struct Asked {
    ActionRequest request;
    int refusals = 0;
    bool answering = false;  // an answer of this peer is in progress
  };
  std::map<ActionId, Asked> asked;

  // The last event that may be delivered; absent: all.
  std::optional<Sequence> through() const {
    if (!ack_window) return std::nullopt;
    return acknowledged + *ack_window;
  }
};
using AttachmentPtr = std::shared_ptr<Attachment>;

}  // namespace agentrt::channels
