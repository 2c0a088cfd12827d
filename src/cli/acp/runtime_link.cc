#include "cli/acp/runtime_link.h"

#include <poll.h>

#include <array>

#include <fmt/format.h>

#include "schema/json_loose.h"

namespace agentrt::cli {
namespace {

using websocket::Opcode;

constexpr std::size_t kReadBytes = 64 * 1024;

struct Incoming {
  std::optional<std::uint64_t> id;
  std::optional<std::string> method;
  std::optional<schema::Json> params;
  std::optional<schema::Json> result;
  std::optional<schema::Json> error;
};
BOOST_DESCRIBE_STRUCT(Incoming, (), (id, method, params, result, error))

struct ErrorData {
  std::optional<std::string> code;
  std::optional<schema::Json> details;
};
BOOST_DESCRIBE_STRUCT(ErrorData, (), (code, details))

struct ErrorBody {
  std::string message;
  std::optional<ErrorData> data;
};
BOOST_DESCRIBE_STRUCT(ErrorBody, (), (message, data))

struct Subscribed {
  std::string subscription_id;
};
BOOST_DESCRIBE_STRUCT(Subscribed, (), (subscription_id))

struct EventParams {
  std::string subscription_id;
  std::optional<schema::Json> event;
};
BOOST_DESCRIBE_STRUCT(EventParams, (), (subscription_id, event))

struct EventPlace {
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(EventPlace, (), (sequence))

Error error_in(const schema::Json& json) {
  ErrorBody body;
  schema::Met met;
  (void)schema::read_loosely(json.text, body, met);
  Error out;
  if (body.data) out.code = code_of(body.data->code.value_or("")).value_or(Code::internal);
  out.message = body.message;
  if (body.data && body.data->details) out.details = body.data->details->text;
  return out;
}

}  // namespace

Result<void> RuntimeLink::connect() {
  TRY_ASSIGN(Upgraded connection, attachment_.client().upgrade("/v1/ws", "stdio"));
  wire_.emplace(std::move(connection.wire));
  reader_.emplace(websocket::Side::client, kMessageBytesMax);
  unsent_.clear();
  send_waits_for_ = 0;
  receive_waits_for_ = kReadable;
  closed_ = false;
  std::vector<websocket::Message> messages;
  if (!reader_->put(connection.received, messages))
    return fail(Code::unavailable, "The runtime sent a frame that is not valid.");
  for (const websocket::Message& message : messages)
    if (message.opcode == Opcode::text) take(message.payload);
  return {};
}

Result<void> RuntimeLink::open() {
  TRY(connect());
  return flush();
}

Result<void> RuntimeLink::reconnect() {
  if (++lost_ > kLostMax)
    return fail(Code::unavailable, "The connection to the runtime is lost again and again.");
  auto connected = connect();
  if (!connected) {
    TRY(attachment_.renew());
    TRY(connect());
  }
  std::erase_if(calls_, [](const auto& each) { return each.second.command.empty(); });
  for (const auto& [id, call] : calls_) send_call(id);
  for (auto& [session, following] : following_) {
    following.id.clear();
    subscribe(session);
  }
  TRY(flush());
  if (moved_) moved_();
  return {};
}

void RuntimeLink::send_text(std::string_view text) {
  unsent_ += websocket::masked_frame(Opcode::text, text, static_cast<std::uint32_t>(random_()));
}

void RuntimeLink::send_call(std::uint64_t id) {
  const Call& call = calls_.at(id);
  send_text(fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})", id,
                        call.command, call.params));
}

void RuntimeLink::call(std::string_view command, const std::string& params, Done done) {
  const std::uint64_t id = ++last_id_;
  calls_.emplace(id, Call{std::string(command), params, std::move(done)});
  send_call(id);
}

void RuntimeLink::subscribe(const SessionId& session) {
  const Sequence after = following_.at(session).after;
  const std::uint64_t id = ++last_id_;
  // Not one of calls_: a new connection subscribes anyway.
  send_text(
      fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"subscribe","params":{{"sessionId":"{}",)"
                  R"("after":{}}}}})",
                  id, session.text(), after));
  calls_.emplace(id, Call{});
  calls_.at(id).done = [this, session](Result<schema::Json> reply) {
    Subscribed subscribed;
    const auto found = following_.find(session);
    if (found == following_.end() || !reply ||
        !schema::from_json(reply->text, subscribed, schema::Unknown::ignore))
      return;
    found->second.id = std::move(subscribed.subscription_id);
  };
}

void RuntimeLink::follow(const SessionId& session, Sequence after, OnEvent on_event) {
  unfollow(session);
  following_[session] = Following{after, std::move(on_event), {}};
  subscribe(session);
}

void RuntimeLink::unfollow(const SessionId& session) {
  const auto found = following_.extract(session);
  if (!found || found.mapped().id.empty()) return;
  call("unsubscribe", fmt::format(R"({{"subscriptionId":"{}"}})", found.mapped().id),
       [](Result<schema::Json>) {});
}

Result<void> RuntimeLink::flush() {
  std::size_t sent = 0;
  send_waits_for_ = 0;
  while (sent < unsent_.size()) {
    const Wire::Progress progress = wire_->send(std::string_view(unsent_).substr(sent));
    sent += progress.bytes;
    send_waits_for_ = progress.wait_for;
    if (progress.ended) closed_ = true;
    if (progress.ended || progress.wait_for != 0) break;
  }
  unsent_.erase(0, sent);
  return {};
}

Result<void> RuntimeLink::receive() {
  std::array<char, kReadBytes> bytes;
  const Wire::Progress progress = wire_->receive(bytes);
  receive_waits_for_ = progress.wait_for != 0 ? progress.wait_for : kReadable;
  std::vector<websocket::Message> messages;
  const bool valid = reader_->put({bytes.data(), progress.bytes}, messages).has_value();
  for (const websocket::Message& message : messages) {
    if (message.opcode == Opcode::ping)
      unsent_ += websocket::masked_frame(Opcode::pong, message.payload,
                                         static_cast<std::uint32_t>(random_()));
    if (message.opcode == Opcode::close) closed_ = true;
    if (message.opcode == Opcode::text) {
      lost_ = 0;
      take(message.payload);
    }
  }
  if (progress.ended || !valid) closed_ = true;
  return {};
}

void RuntimeLink::take(const std::string& text) {
  Incoming message;
  schema::Met met;
  if (!schema::read_loosely(text, message, met)) return;
  if (message.method == "event" && message.params) return take_event(*message.params);
  if (message.method && message.params) return take_end(*message.params);
  if (!message.id) return;
  auto found = calls_.extract(*message.id);
  if (!found || !found.mapped().done) return;
  if (message.result) return found.mapped().done(*std::move(message.result));
  found.mapped().done(std::unexpected(error_in(message.error.value_or(schema::Json{"{}"}))));
}

void RuntimeLink::take_event(const schema::Json& params) {
  EventParams read;
  schema::Met met;
  if (!schema::read_loosely(params.text, read, met) || !read.event) return;
  EventPlace place;
  met.clear();
  if (!schema::read_loosely(read.event->text, place, met)) return;
  for (auto& [session, following] : following_) {
    if (following.id != read.subscription_id || place.sequence <= following.after) continue;
    following.after = place.sequence;
    const OnEvent on_event = following.on_event;  // it may end the subscription
    return on_event(read.event->text);
  }
}

// The link was too slow, or the stream failed: the subscription begins again where it was.
void RuntimeLink::take_end(const schema::Json& params) {
  Subscribed read;
  schema::Met met;
  if (!schema::read_loosely(params.text, read, met) || read.subscription_id.empty()) return;
  for (auto& [session, following] : following_)
    if (following.id == read.subscription_id) {
      following.id.clear();
      return subscribe(session);
    }
}

Result<void> RuntimeLink::step(bool ready) {
  if (ready && wire_) TRY(receive());
  if (!closed_) TRY(flush());
  while (closed_) TRY(reconnect());
  return {};
}

}  // namespace agentrt::cli
