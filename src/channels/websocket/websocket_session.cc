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
  if (is_rpc_response(text)) {
    services_.metrics.rpc_responses_dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
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
  ++calls_;
  std::optional<SessionId> session = schema::session_of(command.request());
  if (!session || waits(command.request())) {
    services_.sink.call(std::move(command),
                        [inbox = services_.inbox, self = weak_from_this(),
                         reply_to = std::move(reply_to)](ports::Reply reply) mutable {
                          reply_to(std::move(reply));
                          inbox->post([self = std::move(self)] {
                            if (const auto session = self.lock()) session->finished(std::nullopt);
                          });
                        });
    return;
  }
  auto& queue = ordered_[*session];
  queue.push_back({std::move(command), std::move(reply_to)});
  if (queue.size() == 1) start_next(*session);
}

void WebSocketSession::start_next(const SessionId& session) {
  WaitingCommand& next = ordered_[session].front();
  services_.sink.call(std::move(next.command),
                      [inbox = services_.inbox, self = weak_from_this(), session,
                       reply_to = std::move(next.reply_to)](ports::Reply reply) mutable {
                        reply_to(std::move(reply));
                        inbox->post([self = std::move(self), session = std::move(session)] {
                          if (const auto mine = self.lock()) mine->finished(session);
                        });
                      });
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
  else
    return false;
  return true;
}

void WebSocketSession::subscribe(const std::string& params, OwnReply reply) {
  const auto refuse = [&](Error error) { reply(std::unexpected(std::move(error)), {}); };
  if (lanes_.size() + opening_ >= limits_.per_connection)
    return refuse({Code::limit_exceeded,
                   fmt::format("a connection has at most {} subscriptions (per_connection in "
                               "[channels]): unsubscribe from one, or open another connection",
                               limits_.per_connection),
                   {}});
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
  if (closing_ || now - heard_ < limits_.ping * (pings_ + 1)) return;
  if (pings_ == kPingsMax) return pipe_.close_stream();
  ++pings_;
  outbox_.send(websocket::frame(Opcode::ping, ""));
}

void WebSocketSession::close_with(CloseCode code, std::string_view reason) {
  if (closing_ || closed_) return;
  const auto keep = shared_from_this();
  while (!lanes_.empty()) drop(lanes_.begin()->first);
  outbox_.send(websocket::frame(Opcode::close, websocket::close_payload(code, reason)));
  closing_ = true;
  if (!closed_ && outbox_.empty()) pipe_.end_stream();
}

void WebSocketSession::end(End why) {
  if (why == End::server_stops) return close_with(CloseCode::going_away, "the daemon stops");
  close_with(CloseCode::policy, "the token was revoked");
}

void WebSocketSession::closed() {
  closed_ = true;
  while (!lanes_.empty()) drop(lanes_.begin()->first);
  ordered_.clear();
}

}  // namespace agentrt::channels
