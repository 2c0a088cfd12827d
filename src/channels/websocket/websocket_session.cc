#include "channels/websocket/websocket_session.h"

#include <fmt/format.h>

#include "channels/request_checks.h"
#include "channels/websocket/rpc_form.h"
#include "schema/codec.h"

namespace agentrt::channels {
namespace {

using websocket::CloseCode;
using websocket::Opcode;

constexpr std::int64_t kPingsMax = 3;

struct SubscribeParams {
  std::optional<SessionId> session_id;
  std::optional<std::uint64_t> after;
  std::optional<std::string> cursor;
  std::optional<GenerationId> generation;
  std::optional<std::vector<std::string>> types;
};
BOOST_DESCRIBE_STRUCT(SubscribeParams, (), (session_id, after, cursor, generation, types))

struct UnsubscribeParams {
  std::string subscription_id;
};
BOOST_DESCRIBE_STRUCT(UnsubscribeParams, (), (subscription_id))

template <class Params>
Result<Params> read_params(const std::string& text) {
  Params params;
  TRY(schema::from_json(text, params, schema::Unknown::refuse));
  return params;
}

Result<StreamStart> start_of(const SubscribeParams& params) {
  StreamStart start{.session = params.session_id, .generation = params.generation};
  if (params.types) {
    TRY(check_types(*params.types));
    start.types = *params.types;
  }
  if (params.after && params.cursor)
    return fail(Code::invalid_params, "after and cursor are alternatives; send only one of them");
  if (params.after && !params.session_id)
    return fail(Code::invalid_params, "after: needs a sessionId; over all sessions send cursor");
  start.after = params.after.value_or(0);
  if (!params.cursor) return start;
  start.from_end = *params.cursor == "end";
  if (start.from_end) return start;
  if (params.session_id) {
    TRY_ASSIGN(start.after, read_number("cursor", *params.cursor));
    return start;
  }
  TRY_ASSIGN(const Cursor cursor, read_cursor(*params.cursor));
  if (start.generation && *start.generation != cursor.generation)
    return fail(Code::invalid_params, "generation: the cursor belongs to a different generation");
  start.after = cursor.position;
  start.generation = cursor.generation;
  return start;
}

// A command that waits for something must not delay the others of its session.
bool waits(const schema::Command& command) {
  return std::holds_alternative<schema::WaitSubagents>(command) ||
         std::holds_alternative<schema::ClaimTask>(command);
}

std::string_view reason_of(CloseCode code) {
  switch (code) {
    case CloseCode::unsupported:
      return "send text frames: binary ones are not understood";
    case CloseCode::not_utf8:
      return "a text frame is not valid UTF-8";
    case CloseCode::too_large:
      return "a message is larger than channels.message_bytes";
    default:
      return "a frame violates the WebSocket protocol";
  }
}

}  // namespace

WebSocketSession::WebSocketSession(UpgradedPipe& pipe, Services& services, WebSocketPeer peer)
    : pipe_(pipe),
      services_(services),
      peer_(std::move(peer)),
      limits_(services.channels),
      reader_(websocket::Side::server, limits_.message_bytes),
      outbox_(pipe) {
  services_.metrics.websockets.fetch_add(1, std::memory_order_relaxed);
}

WebSocketSession::~WebSocketSession() {
  services_.metrics.websockets.fetch_sub(1, std::memory_order_relaxed);
}

// --- receiving ---

void WebSocketSession::received(std::string_view bytes) {
  heard_ = Clock::now();
  pings_ = 0;
  std::vector<websocket::Message> messages;
  const auto read = reader_.put(bytes, messages);
  for (websocket::Message& message : messages) {
    if (closed_ || closing_) return;
    handle(std::move(message));
  }
  if (!read && !closed_) close_with(read.error(), reason_of(read.error()));
}

bool WebSocketSession::receives() const {
  return outbox_.unread_bytes() <= limits_.unread_bytes_max;
}

void WebSocketSession::handle(websocket::Message message) {
  switch (message.opcode) {
    case Opcode::text:
      return handle_text(std::move(message.payload));
    case Opcode::ping:
      return outbox_.send(websocket::frame(Opcode::pong, message.payload));
    case Opcode::close:
      return close_with(CloseCode::normal, "");
    default:
      return;  // a pong counts as any message
  }
}

void WebSocketSession::handle_text(std::string text) {
  if (const auto response = read_rpc_response(text)) return take_response(*response);
  services_.metrics.http_requests.fetch_add(1, std::memory_order_relaxed);
  answer_rpc(services_, *this, read_rpc(text), [self = weak_from_this()](const std::string& reply) {
    const auto session = self.lock();
    if (session && !reply.empty()) session->send_text(reply);
  });
}

void WebSocketSession::send_text(std::string_view text) {
  if (closed_ || closing_) return;
  outbox_.send(websocket::frame(Opcode::text, text));
}

// --- commands ---

void WebSocketSession::command(ports::Authorized<schema::Command> command,
                               ports::ReplyTo reply_to) {
  if (calls_ >= limits_.calls_in_flight)
    return reply_to(fail(Code::overloaded,
                         fmt::format("{} calls of this connection are in progress: wait for their "
                                     "replies and try again",
                                     calls_)));
  std::optional<SessionId> session = schema::session_of(command.request());
  if (waits(command.request())) session = std::nullopt;
  in_order(session, [&desk = services_.desk, command = std::move(command),
                     reply_to = std::move(reply_to)](Done done) mutable {
    desk.call(std::move(command),
              [reply_to = std::move(reply_to), done = std::move(done)](ports::Reply reply) mutable {
                reply_to(std::move(reply));
                done();
              });
  });
}

void WebSocketSession::in_order(const std::optional<SessionId>& session, Work work) {
  ++calls_;
  if (!session) return work(done_with(session));
  auto& queue = ordered_[*session];
  queue.push_back(std::move(work));
  if (queue.size() == 1) start_next(*session);
}

void WebSocketSession::start_next(const SessionId& session) {
  Work work = std::move(ordered_[session].front());
  work(done_with(session));
}

WebSocketSession::Done WebSocketSession::done_with(const std::optional<SessionId>& session) {
  return [inbox = services_.inbox, self = weak_from_this(), session] {
    inbox->post([self, session] {
      if (const auto mine = self.lock()) mine->finished(session);
    });
  };
}

void WebSocketSession::finished(const std::optional<SessionId>& session) {
  --calls_;
  if (!session) return;
  const auto found = ordered_.find(*session);
  if (found == ordered_.end()) return;  // the connection was closed meanwhile
  found->second.pop_front();
  if (!found->second.empty() && !closed_) return start_next(*session);
  ordered_.erase(found);
}

// --- subscriptions ---

bool WebSocketSession::own_method(const RpcCall& call, OwnReply& reply) {
  if (call.method == "subscribe")
    subscribe(call.params, std::move(reply));
  else if (call.method == "unsubscribe")
    unsubscribe(call.params, std::move(reply));
  else if (starts_channel(call.method))
    start_channel(call, std::move(reply));
  else
    return false;
  return true;
}

Result<void> WebSocketSession::check_room() const {
  const std::size_t used = channels_.size() + lanes_.size() + opening_;
  if (used < limits_.per_connection) return {};
  return fail(Code::limit_exceeded,
              fmt::format("a connection has at most {} channels and subscriptions (per_connection "
                          "in [channels]): end one, or open another connection",
                          limits_.per_connection));
}

void WebSocketSession::subscribe(const std::string& params, OwnReply reply) {
  const auto refuse = [&](Error error) { reply(std::unexpected(std::move(error)), {}); };
  if (const auto room = check_room(); !room) return refuse(room.error());
  const auto wanted = read_params<SubscribeParams>(params);
  if (!wanted) return refuse(wanted.error());
  auto start = start_of(*wanted);
  if (!start) return refuse(start.error());
  auto allowed = Authorization::events(identity(), *std::move(start));
  if (!allowed) return refuse(allowed.error());
  const std::string id = fmt::format("sub_{}", ++last_subscription_);
  ++opening_;
  SseHub& hub = services_.hub;
  hub.open(
      *std::move(allowed),
      [&hub, id, self = weak_from_this(),
       reply = std::move(reply)](Result<std::shared_ptr<Subscriber>> subscriber) mutable {
        const auto session = self.lock();
        if (session) --session->opening_;
        if (!subscriber) return reply(std::unexpected(subscriber.error()), {});
        if (!session || session->closed_) return hub.close(**subscriber);
        session->opened(id, *std::move(subscriber), std::move(reply));
      },
      [&](const StreamKind& kind) { return rpc_form(kind, id); });
}

// The reply precedes the first event.
void WebSocketSession::opened(const std::string& id, std::shared_ptr<Subscriber> subscriber,
                              OwnReply reply) {
  const auto lane =
      std::make_shared<Outbox::Lane>(outbox_, std::move(subscriber), [this, id] { drop(id); });
  lanes_.emplace(id, lane);
  reply(fmt::format(R"({{"subscriptionId":"{}"}})", id),
        [self = weak_from_this(), lane = std::weak_ptr(lane)] {
          const auto session = self.lock();
          const auto open = lane.lock();
          if (session && open) open->subscriber()->attach(*open, "");
        });
}

void WebSocketSession::unsubscribe(const std::string& params, OwnReply reply) {
  const auto wanted = read_params<UnsubscribeParams>(params);
  if (!wanted) return reply(std::unexpected(wanted.error()), {});
  if (channels_.contains(ChannelId{wanted->subscription_id}))
    return reply(fail(Code::conflict, "this is a channel: call disconnect_channel"), {});
  if (!lanes_.contains(wanted->subscription_id))
    return reply(fail(Code::not_found, "this connection has no such subscription"), {});
  drop(wanted->subscription_id);
  reply("{}", {});
}

void WebSocketSession::drop(const std::string& id) {
  const auto found = lanes_.find(id);
  if (found == lanes_.end()) return;
  const auto subscriber = found->second->subscriber();
  found->second->leave();
  lanes_.erase(found);
  services_.hub.close(*subscriber);
}

// --- channels ---

void WebSocketSession::start_channel(const RpcCall& call, OwnReply reply) {
  auto command = command_of(identity(), call);
  if (!command) return reply(std::unexpected(command.error()), {});
  if (const auto room = check_room(); !room) return reply(std::unexpected(room.error()), {});
  if (calls_ >= limits_.calls_in_flight)
    return reply(fail(Code::overloaded, "too many calls of this connection are in progress"), {});
  const std::optional<SessionId> of = schema::session_of(*command);
  in_order(of, [this, command = *std::move(command), reply = std::move(reply)](Done done) mutable {
    services_.desk.start(
        std::move(command), peer_.identity, origin(), shared_from_this(),
        [self = weak_from_this(), reply = std::move(reply), done = std::move(done)](
            ports::Reply answer, const AttachmentPtr& attachment) mutable {
          const auto session = self.lock();
          if (!answer || !attachment || !session || session->closed_)
            reply(std::move(answer), {});
          else
            session->channel_started(attachment, *std::move(answer), std::move(reply));
          done();
        });
  });
}

void WebSocketSession::channel_started(const AttachmentPtr& attachment, std::string answer,
                                       OwnReply reply) {
  channels_[attachment->id] = {attachment->heartbeat};
  if (attachment->delivers) return deliver(attachment, std::move(answer), std::move(reply));
  reply(std::move(answer), [self = weak_from_this(), to = std::weak_ptr(attachment)] {
    const auto session = self.lock();
    const auto attachment = to.lock();
    if (session && attachment) session->services_.desk.ready(*attachment);
  });
}

// The reply precedes the first event.
void WebSocketSession::deliver(const AttachmentPtr& attachment, std::string answer,
                               OwnReply reply) {
  StreamStart start{.session = attachment->session, .after = attachment->after};
  start.through = attachment->through();
  auto allowed = Authorization::events(identity(), std::move(start));
  if (!allowed) return reply(std::unexpected(allowed.error()), {});
  ++opening_;
  SseHub& hub = services_.hub;
  const std::string id = attachment->id.text();
  hub.open(
      *std::move(allowed),
      [&hub, id, self = weak_from_this(), to = std::weak_ptr(attachment),
       answer = std::move(answer),
       reply = std::move(reply)](Result<std::shared_ptr<Subscriber>> subscriber) mutable {
        const auto session = self.lock();
        if (session) --session->opening_;
        const bool carried =
            session && !session->closed_ && to.lock() && session->channels_.contains(ChannelId{id});
        if (subscriber && !carried) hub.close(**subscriber);
        if (!carried) return reply(std::move(answer), {});
        if (!subscriber) {  // the channel exists: the client learns its resume token
          reply(std::move(answer), [self, id] {
            if (const auto open = self.lock())
              open->services_.desk.lost(ChannelId{id}, schema::ChannelEnd::connection_lost);
          });
          return;
        }
        const auto lane = std::make_shared<Outbox::Lane>(
            session->outbox_, *std::move(subscriber),
            [mine = session.get(), id] { mine->drop_channel(ChannelId{id}); });
        session->lanes_.emplace(id, lane);
        reply(std::move(answer), [self, to, lane = std::weak_ptr(lane)] {
          const auto session = self.lock();
          const auto open = lane.lock();
          if (session && open) open->subscriber()->attach(*open, "");
          const auto attachment = to.lock();
          if (session && attachment) session->services_.desk.ready(*attachment);
        });
      },
      [&](const StreamKind& kind) { return rpc_form(kind, id); });
}

// The stream of the channel has sent its last message: it fell too far behind, or failed.
void WebSocketSession::drop_channel(const ChannelId& channel) {
  const auto lane = lanes_.find(channel.text());
  const bool behind = lane != lanes_.end() && lane->second->subscriber()->overflowed();
  services_.desk.lost(channel,
                      behind ? schema::ChannelEnd::overflow : schema::ChannelEnd::connection_lost);
  drop(channel.text());
}

void WebSocketSession::ended(const ChannelId& channel, schema::ChannelEnd reason) {
  channels_.erase(channel);
  std::erase_if(asked_, [&](const auto& each) { return each.second.channel == channel; });
  if (reason != schema::ChannelEnd::overflow) drop(channel.text());  // it still sends the notice
  if (reason == schema::ChannelEnd::replaced && channels_.empty())
    close_with(CloseCode::replaced, "another connection has resumed the channel");
}

void WebSocketSession::may_deliver(const ChannelId& channel, Sequence through) {
  const auto found = lanes_.find(channel.text());
  if (found == lanes_.end()) return;
  const auto subscriber = found->second->subscriber();
  subscriber->allow(through);
}

void WebSocketSession::request_action(const ChannelId& channel, const ActionRequest& request) {
  const std::string id = fmt::format("\"action_{}\"", ++last_request_);
  asked_[id] = {channel, request.action.action_id};
  send_text(rpc_request(id, "request_action", request.params));
}

void WebSocketSession::cancel_action(const ChannelId& channel, const ActionId& action) {
  std::erase_if(asked_, [&](const auto& each) {
    return each.second.channel == channel && each.second.action == action;
  });
  send_text(rpc_notification("cancel_action", about_action(channel, action)));
}

void WebSocketSession::action_refused(const ChannelId& channel, const ActionId& action,
                                      const Error& error) {
  send_text(rpc_notification("action_refused", about_action(channel, action, &error)));
}

void WebSocketSession::take_response(const RpcResponse& response) {
  const auto found = asked_.find(response.id);
  if (found == asked_.end()) {
    services_.metrics.rpc_responses_dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const Asked asked = found->second;
  asked_.erase(found);
  if (response.result) services_.desk.answer(asked.channel, asked.action, *response.result);
}

// --- time and end ---

void WebSocketSession::on_writable() {
  const auto keep = shared_from_this();
  outbox_.on_writable();
  if (closed_) return;
  if (closing_ && outbox_.empty()) return pipe_.end_stream();
  if (receives()) pipe_.receive_more();
}

void WebSocketSession::tick(Instant now) {
  const auto keep = shared_from_this();
  if (outbox_.stalled(now, services_.hub.limits().stall)) return pipe_.close_stream();
  const auto lanes = lanes_;  // a subscription may end
  for (const auto& [id, lane] : lanes) {
    lane->subscriber()->tick(now);
    if (closed_) return;
  }
  // The client's pongs are the heartbeats of its channels.
  Duration interval = limits_.ping;
  for (const auto& [_, channel] : channels_)
    if (channel.heartbeat.count() > 0) interval = std::min(interval, channel.heartbeat);
  if (closing_ || now - heard_ < interval * (pings_ + 1)) return;
  if (pings_ == kPingsMax) {
    lost_as_ = schema::ChannelEnd::heartbeat_timeout;
    return pipe_.close_stream();
  }
  ++pings_;
  outbox_.send(websocket::frame(Opcode::ping, ""));
}

void WebSocketSession::close_with(CloseCode code, std::string_view reason) {
  if (closing_ || closed_) return;
  const auto keep = shared_from_this();
  services_.desk.lost_peer(*this, lost_as_);
  while (!lanes_.empty()) drop(lanes_.begin()->first);
  outbox_.send(websocket::frame(Opcode::close, websocket::close_payload(code, reason)));
  closing_ = true;
  if (!closed_ && outbox_.empty()) pipe_.end_stream();
}

void WebSocketSession::end(End why) {
  lost_as_ = why == End::server_stops ? schema::ChannelEnd::runtime_stopped
                                      : schema::ChannelEnd::token_revoked;
  if (why == End::server_stops) return close_with(CloseCode::going_away, "the daemon stops");
  close_with(CloseCode::policy, "the token was revoked");
}

void WebSocketSession::closed() {
  closed_ = true;
  services_.desk.lost_peer(*this, lost_as_);
  while (!lanes_.empty()) drop(lanes_.begin()->first);
  ordered_.clear();
}

}  // namespace agentrt::channels
