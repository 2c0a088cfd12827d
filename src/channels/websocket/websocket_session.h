// channels/websocket/websocket_session.h: one client on GET /v1/ws.
//
// JSON-RPC in both directions, one message per text frame: every command, subscribe and unsubscribe
// as methods; events and the ends of subscriptions as notifications. Commands that name the same
// session are passed to the core one after the other, in the order in which they arrived. The
// session is the peer of the channels that are connected over it, at most one per session of the
// runtime: their events need no subscription, and open actions are its requests to the client.
// Network thread only.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/websocket.h"
#include "channels/desk/channel_desk.h"
#include "channels/handlers/rpc_calls.h"
#include "channels/limits.h"
#include "channels/upgraded.h"
#include "channels/websocket/outbox.h"

namespace agentrt::channels {

// Who is connected, as the handshake showed.
struct WebSocketPeer {
  std::shared_ptr<const Identity> identity;
  RequestOrigin origin;
};

class WebSocketSession final : public Upgraded,
                               public RpcCaller,
                               public ChannelPeer,
                               public std::enable_shared_from_this<WebSocketSession> {
 public:
  WebSocketSession(UpgradedPipe& pipe, Services& services, WebSocketPeer peer);
  ~WebSocketSession() override;

  void received(std::string_view bytes) override;
  bool receives() const override;
  void on_writable() override;
  void tick(Instant now) override;
  void end(End why) override;
  void closed() override;

  const Identity* identity() const override { return peer_.identity.get(); }
  RequestOrigin origin() const override { return peer_.origin; }
  void command(ports::Authorized<schema::Command> command, ports::ReplyTo reply_to) override;
  bool own_method(const RpcCall& call, OwnReply& reply) override;

  Instant heard() const override { return heard_; }
  std::optional<schema::ChannelEnd> fault(Instant) override { return std::nullopt; }
  void request_action(const ChannelId& channel, const ActionRequest& request) override;
  void cancel_action(const ChannelId& channel, const ActionId& action) override;
  void action_refused(const ChannelId& channel, const ActionId& action,
                      const Error& error) override;
  void may_deliver(const ChannelId& channel, Sequence through) override;
  void ended(const ChannelId& channel, schema::ChannelEnd reason) override;

 private:
  // Work that begins when the work before it for the same session has called its `done`, which may
  // happen on any thread.
  using Done = std::move_only_function<void()>;
  using Work = std::move_only_function<void(Done done)>;
  struct Asked {
    ChannelId channel;
    ActionId action;
  };

  void handle(websocket::Message message);
  void handle_text(std::string text);
  void send_text(std::string_view text);
  void close_with(websocket::CloseCode code, std::string_view reason);
  void in_order(const std::optional<SessionId>& session, Work work);
  void start_next(const SessionId& session);
  void finished(const std::optional<SessionId>& session);
  Done done_with(const std::optional<SessionId>& session);
  Result<void> check_room() const;
  void take_response(const RpcResponse& response);
  void start_channel(const RpcCall& call, OwnReply reply);
  void channel_started(const AttachmentPtr& attachment, std::string answer, OwnReply reply);
  void deliver(const AttachmentPtr& attachment, std::string answer, OwnReply reply);
  void subscribe(const std::string& params, OwnReply reply);
  void opened(const std::string& id, std::shared_ptr<Subscriber> subscriber, OwnReply reply);
  void unsubscribe(const std::string& params, OwnReply reply);
  void drop(const std::string& id);
  void drop_channel(const ChannelId& channel);

  UpgradedPipe& pipe_;
  Services& services_;
  const WebSocketPeer peer_;
  const ChannelLimits& limits_;
  websocket::Reader reader_;
  Outbox outbox_;
  // Commands of a session: the first is in progress, the others follow.
  std::unordered_map<SessionId, std::deque<Work>> ordered_;
  std::size_t calls_ = 0;
  std::map<std::string, std::shared_ptr<Outbox::Lane>> lanes_;  // by subscription
  std::size_t opening_ = 0;                                     // subscriptions without a lane yet
  std::uint64_t last_subscription_ = 0;
  struct Carried {
    Duration heartbeat{0};
  };
  std::map<ChannelId, Carried> channels_;
  std::map<std::string, Asked> asked_;  // requests to the client, by id
  std::uint64_t last_request_ = 0;
  schema::ChannelEnd lost_as_ = schema::ChannelEnd::connection_lost;  // its channels, when it ends
  Instant heard_ = Clock::now();
  std::int64_t pings_ = 0;  // unanswered
  bool closing_ = false;    // a close frame was sent
  bool closed_ = false;     // the pipe is gone
};

}  // namespace agentrt::channels
