#include "base/websocket.h"

#include <map>

#include "channels/testing/client_fixture.h"
#include "schema/codec.h"

// Tests GET /v1/ws over real sockets, with a client that can send any bytes.
namespace agentrt::channels {
namespace {

using websocket::CloseCode;
using websocket::Opcode;

constexpr std::string_view kUpgrade =
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

struct WsClient {
  TestClient client;
  websocket::Reader reader{websocket::Side::client, std::size_t{64} << 20};
  std::vector<websocket::Message> arrived;
  std::string head;

  explicit WsClient(const TestServer& s, std::string_view fields = "") : client(s.server->port()) {
    shake(s, fields);
  }
  WsClient(const TestServer& s, int receive_bytes) : client(s.server->port(), receive_bytes) {
    shake(s, "");
  }
  void shake(const TestServer& s, std::string_view fields) {
    client.send(s.text("GET", "/v1/ws", fmt::format("{}{}", kUpgrade, fields)));
    head = client.read_until("\r\n\r\n");
  }
  void send(std::string_view text, Opcode opcode = Opcode::text) {
    client.send(websocket::masked_frame(opcode, text, 0x12345678));
  }
  // The next message; a close with code 0 if the connection ended.
  websocket::Message next() {
    while (arrived.empty()) {
      const std::string bytes = client.read_some();
      if (bytes.empty()) return {Opcode::close, ""};
      REQUIRE(reader.put(bytes, arrived).has_value());
    }
    websocket::Message out = arrived.front();
    arrived.erase(arrived.begin());
    return out;
  }
  std::string text() {
    const websocket::Message message = next();
    REQUIRE(message.opcode == Opcode::text);
    return message.payload;
  }
  std::uint16_t close_code() {
    websocket::Message message = next();
    while (message.opcode != Opcode::close) message = next();
    return websocket::close_code_of(message.payload);
  }
  std::string ask(std::string_view method, std::string_view params) {
    send(fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"{}","params":{}}})", method, params));
    return text();
  }
  std::string subscribe(std::string_view params) {
    const std::string reply = ask("subscribe", params);
    const std::size_t at = reply.find("sub_");
    REQUIRE_MESSAGE(at != reply.npos, reply);
    return reply.substr(at, reply.find('"', at) - at);
  }
};

struct EventParams {
  std::string subscription_id;
  std::optional<schema::Json> event;
  std::optional<std::string> cursor;
  std::optional<std::uint64_t> after;
};
BOOST_DESCRIBE_STRUCT(EventParams, (), (subscription_id, event, cursor, after))
struct Notification {
  std::string method;
  EventParams params;
};
BOOST_DESCRIBE_STRUCT(Notification, (), (method, params))

Notification read(const std::string& text) {
  Notification out;
  const auto good = schema::from_json(text, out, schema::Unknown::ignore);
  REQUIRE_MESSAGE(good.has_value(), text);
  return out;
}

HttpLimits small(std::chrono::milliseconds ping = std::chrono::milliseconds(20'000)) {
  HttpLimits limits;
  limits.channels.message_bytes = 1'000;
  limits.channels.calls_in_flight = 2;
  limits.channels.per_connection = 3;
  limits.channels.ping = ping;
  limits.stream.keepalive = Duration(50);
  return limits;
}

}  // namespace

TEST_CASE("the handshake proves the key, and never echoes the token") {
  TestServer s;
  const WsClient plain(s);
  CHECK(plain.head.starts_with("HTTP/1.1 101 Switching Protocols\r\n"));
  CHECK(plain.head.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
  CHECK(!plain.head.contains("Sec-WebSocket-Protocol"));
  TestClient browser(s.server->port());
  browser.send(
      fmt::format("GET /v1/ws HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n"
                  "{}Sec-WebSocket-Protocol: agentrt.v1, bearer.{}\r\n\r\n",
                  kUpgrade, s.admin));
  const std::string head = browser.read_until("\r\n\r\n");
  CHECK(head.starts_with("HTTP/1.1 101 "));
  CHECK(head.contains("Sec-WebSocket-Protocol: agentrt.v1\r\n"));
  CHECK(!head.contains(s.admin));
}

TEST_CASE("a handshake without token, from elsewhere or of another kind is refused as HTTP") {
  TestServer s;
  const auto status = [&](std::string_view fields) {
    return s.ask("GET", "/v1/ws", fmt::format("{}{}", kUpgrade, fields)).status;
  };
  CHECK(status("Authorization: Bearer wrong\r\n") == 401);
  CHECK(status("Origin: http://evil.example\r\n") == 403);
  CHECK(status("Host: evil.example\r\n") == 421);
  CHECK(s.ask("GET", "/v1/ws").status == 400);
  CHECK(s.ask("POST", "/v1/ws", "", "{}").status == 405);
  CHECK(s.metrics.websockets == 0);
}

TEST_CASE("commands are answered like on POST /v1/rpc, and a bad message ends nothing") {
  TestServer s;
  WsClient client(s);
  CHECK(client.ask("get_session", R"({"sessionId":"s"})")
            .starts_with(R"({"jsonrpc":"2.0","id":1,"result":{"command":"get_session")"));
  CHECK(client.ask("no_such", "{}").contains("-32601"));
  CHECK(client.ask("get_session", R"({"sessionId":"s","scopes":["admin"]})").contains("-32602"));
  client.send("{ not json");
  CHECK(client.text().contains("-32700"));
  client.send(R"([{"jsonrpc":"2.0","id":1,"method":"no"},{"jsonrpc":"2.0","id":2,"method":"no"}])");
  CHECK(client.text().starts_with("[{"));
  client.send(R"({"jsonrpc":"2.0","id":"r9","result":{}})");  // to an unknown request
  client.send("x", Opcode::ping);
  CHECK(client.next() == websocket::Message{Opcode::pong, "x"});
  CHECK(s.metrics.rpc_responses_dropped == 1);
  CHECK(s.metrics.websockets == 1);
}

TEST_CASE("a subscription replies first, then sends stored and live events with the stored bytes") {
  TestServer s;
  s.feed.append("s", 3);
  WsClient client(s);
  const std::string id = client.subscribe(R"({"sessionId":"s","after":1})");
  const Notification second = read(client.text());
  CHECK(second.method == "event");
  CHECK(second.params.subscription_id == id);
  CHECK(read(client.text()).params.event->text.contains("evt_s_3"));
  s.feed.append("s", 1);
  const std::string live = read(client.text()).params.event->text;
  CHECK(s.ask("GET", "/v1/sessions/s/events?after=1").body.contains(second.params.event->text));
  CHECK(s.ask("GET", "/v1/sessions/s/events?after=3").body.contains("[" + live + "]"));
  CHECK(client.ask("unsubscribe", R"({"subscriptionId":"sub_9"})").contains("not_found"));
  CHECK(client.ask("unsubscribe", fmt::format(R"({{"subscriptionId":"{}"}})", id))
            .contains(R"("result":{})"));
  s.feed.append("s", 1);
  client.send("", Opcode::ping);
  CHECK(client.next().opcode == Opcode::pong);
  CHECK(s.metrics.subscribers == 0);
}

TEST_CASE("over all sessions each event has a cursor, and the end can be the start") {
  TestServer s;
  s.feed.append("a", 1);
  WsClient client(s);
  client.subscribe(R"({"cursor":"end"})");
  const Notification start = read(client.text());
  CHECK(start.method == "stream.progress");
  CHECK(start.params.cursor == "1.gen_1");
  s.feed.append("b", 1);
  const Notification event = read(client.text());
  CHECK(event.params.event->text.contains("evt_b_1"));
  CHECK(event.params.cursor == "2.gen_1");
  CHECK(client.ask("subscribe", R"({"after":1})").contains("invalid_params"));
  CHECK(client.ask("subscribe", R"({"sessionId":"none"})").contains("not_found"));
  CHECK(client.ask("subscribe", R"({"sessionId":"a","after":9})").contains("gone"));
}

TEST_CASE("a filter leaves other types out, and progress says how far it is") {
  TestServer s(small());
  s.feed.append("s", 2);
  s.feed.append("s", 1, 16, "test.wanted");
  WsClient client(s);
  client.subscribe(R"({"sessionId":"s","types":["test.wanted"]})");
  CHECK(read(client.text()).params.event->text.contains("evt_s_3"));
  s.feed.append("s", 2);
  Notification progress = read(client.text());
  while (progress.params.after < 5) progress = read(client.text());
  CHECK(progress.method == "stream.progress");
  CHECK(progress.params.after == 5);
  s.feed.append("s", 1, 16, "test.wanted");
  Notification event = read(client.text());
  while (event.method != "event") event = read(client.text());
  CHECK(event.params.event->text.contains("evt_s_6"));
}

TEST_CASE("limits of a connection") {
  TestServer s(small());
  s.feed.append("s", 1);
  WsClient client(s);
  for (int i = 0; i < 3; ++i) client.subscribe(R"({"sessionId":"s","after":1})");
  CHECK(client.ask("subscribe", R"({"sessionId":"s"})").contains("limit_exceeded"));
  const auto release = s.sink.hold();
  for (int i = 0; i < 3; ++i)
    client.send(fmt::format(
        R"({{"jsonrpc":"2.0","id":{},"method":"get_session","params":{{"sessionId":"s"}}}})", i));
  const std::string refused = client.text();
  CHECK(refused.contains(R"("id":2)"));
  CHECK(refused.contains("overloaded"));
  release();
  CHECK(client.text().contains(R"("id":0,"result")"));
  CHECK(client.text().contains(R"("id":1,"result")"));
}

TEST_CASE("each violation closes the connection with its code") {
  TestServer s(small());
  const auto code = [&](const std::string& bytes) {
    WsClient client(s);
    client.client.send(bytes);
    return client.close_code();
  };
  CHECK(code(websocket::frame(Opcode::text, "{}")) == 1002);
  CHECK(code(websocket::masked_frame(Opcode::binary, "{}", 1)) == 1003);
  CHECK(code(websocket::masked_frame(Opcode::text, "\xff", 1)) == 1007);
  CHECK(code(websocket::masked_frame(Opcode::text, std::string(1'001, 'x'), 1)) == 1009);
  CHECK(code(websocket::masked_frame(Opcode::close, "", 1)) == 1000);
  CHECK(TestServer::soon([&] { return s.metrics.websockets == 0; }));
}

TEST_CASE("a revoked token closes its connection, and so does the end of the server") {
  TestServer s;
  const std::string token = s.token({TokenScope::read});
  WsClient client(s, fmt::format("Authorization: Bearer {}\r\n", token));
  REQUIRE(s.tokens->revoke(s.last_token_id).has_value());
  CHECK(client.close_code() == 1008);
  WsClient other(s);
  s.server->stop();
  CHECK(other.close_code() == 1001);
}

TEST_CASE("a peer that answers no ping is disconnected") {
  TestServer s(small(std::chrono::milliseconds(60)));
  WsClient client(s);
  for (int i = 0; i < 3; ++i) CHECK(client.next().opcode == Opcode::ping);
  CHECK(client.close_code() == 1005);
  CHECK(TestServer::soon([&] { return s.metrics.websockets == 0; }));
}

TEST_CASE("messages of several subscriptions never mix, although the peer reads late") {
  TestServer s;
  s.feed.append("s", 1);
  WsClient client(s, 65'536);
  std::map<std::string, std::uint64_t> seen;
  for (int i = 0; i < 3; ++i) seen[client.subscribe(R"({"sessionId":"s","after":1})")] = 1;
  for (int i = 0; i < 40; ++i) s.feed.append("s", 5, 3'000);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const std::string gone = seen.begin()->first;
  client.send(fmt::format(
      R"({{"jsonrpc":"2.0","id":7,"method":"unsubscribe","params":{{"subscriptionId":"{}"}}}})",
      gone));
  std::size_t missing = 2 * 200 + 1;
  while (missing > 0) {
    const std::string text = client.text();
    if (text.contains(R"("id":7)")) {
      seen.erase(gone);
      --missing;
      continue;
    }
    const Notification event = read(text);
    const std::uint64_t number = ++seen.at(event.params.subscription_id);
    CHECK(event.params.event->text.contains(fmt::format(R"("evt_s_{}")", number)));
    if (event.params.subscription_id != gone) --missing;
  }
}

}  // namespace agentrt::channels
