#include <sys/resource.h>

#include "channels/testing/client_fixture.h"

// Tests every limit of the server, and misbehaving clients.
namespace agentrt::channels {
namespace {

HttpLimits quick() {
  HttpLimits limits;
  limits.header_bytes_max = 4 << 10;
  limits.body_bytes_max = 64 << 10;
  limits.head = Duration{100};
  limits.body = Duration{100};
  limits.idle = Duration{100};
  limits.stall = Duration{200};
  limits.linger = Duration{100};
  limits.stop = Duration{300};
  limits.accept_backoff = Duration{20};
  return limits;
}

}  // namespace

TEST_CASE("a header over its limit is 431") {
  TestServer s(quick());
  const TestReply reply =
      s.ask("GET", "/healthz", fmt::format("X-Long: {}\r\n", std::string(8 << 10, 'x')));
  CHECK(reply.status == 431);
  CHECK(reply.code() == "header_too_large");
  CHECK(reply.field("Connection") == "close");
}

TEST_CASE("a body over its limit is 413, and the answer arrives though the body is unread") {
  TestServer s(quick());
  const std::string body(1 << 20, ' ');
  const TestReply declared = s.ask("POST", "/v1/commands/list_sessions", "", body);
  CHECK(declared.status == 413);
  CHECK(declared.code() == "too_large");
  const TestReply chunked = s.ask("POST", "/v1/commands/list_sessions",
                                  "Transfer-Encoding: chunked\r\nX-Not-Content-Length: 0\r\n",
                                  fmt::format("{:x}\r\n{}\r\n0\r\n\r\n", body.size(), body));
  CHECK(chunked.status == 413);
  // The token is checked first, so that limits are not revealed without one.
  CHECK(s.ask("POST", "/v1/commands/list_sessions", "Authorization: none\r\n", body).status == 401);
}

TEST_CASE("a chunked body is as good as a plain one") {
  TestServer s(quick());
  CHECK(s.ask("POST", "/v1/commands/list_sessions",
              "Transfer-Encoding: chunked\r\nX-Not-Content-Length: 0\r\n",
              "1\r\n{\r\n1\r\n}\r\n0\r\n\r\n")
            .status == 200);
}

TEST_CASE("a client that sends Expect: 100-continue gets it, or a refusal") {
  TestServer s(quick());
  TestClient client(s.server->port());
  client.send(s.text("POST", "/v1/commands/list_sessions",
                     "Expect: 100-continue\r\nContent-Length: 2\r\n"));
  CHECK(client.read_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("{}");
  CHECK(client.reply().status == 200);
  client.send(s.text("POST", "/v1/commands/list_sessions",
                     "Expect: 100-continue\r\nAuthorization: none\r\nContent-Length: 2\r\n"));
  CHECK(client.reply().status == 401);
}

TEST_CASE("garbage is 400 and the connection ends") {
  TestServer s(quick());
  for (const char* text : {"hello there\r\n\r\n", "GET / HTTP/1.1\r\nbad header\r\n\r\n",
                           "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
                           "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"}) {
    TestClient client(s.server->port());
    client.send(text);
    const TestReply reply = client.reply();
    CHECK(reply.status == 400);
    CHECK(reply.code() == "invalid_params");
    CHECK(client.closes());
  }
  TestClient client(s.server->port());
  client.send(s.text("GET", "/healthz") + "garbage\r\n\r\n");
  CHECK(client.reply().status == 200);
  CHECK(client.reply().status == 400);
}

TEST_CASE("a request that does not arrive in time is 408, a silent connection just ends") {
  TestServer s(quick());
  TestClient silent(s.server->port());
  TestClient head(s.server->port());
  head.send("GET /healthz HTT");
  TestClient body(s.server->port());
  body.send(s.text("POST", "/v1/commands/list_sessions", "Content-Length: 10\r\n", "{"));
  TestClient idle(s.server->port());
  idle.send(s.text("GET", "/healthz"));
  CHECK(idle.reply().status == 200);
  CHECK(head.reply().code() == "timeout");
  CHECK(body.reply().status == 408);
  for (TestClient* client : {&silent, &idle}) {
    const auto [text, closed] = client->read_to_end();
    CHECK(text.empty());
    CHECK(closed);
  }
  CHECK(TestServer::soon([&] { return s.server->connections() == 0; }));
  CHECK(s.metrics.http_connections == 0);
}

TEST_CASE("a header that dribbles in is cut off by the same deadline") {
  TestServer s(quick());
  TestClient client(s.server->port());
  const std::string text = s.text("GET", "/healthz");
  const auto begun = std::chrono::steady_clock::now();
  for (const char c : text.substr(0, 60)) {
    client.send({&c, 1});
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  CHECK(client.reply().status == 408);
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(5));
}

TEST_CASE("a half-closed client gets its answer, and its connection ends") {
  TestServer s(quick());
  TestClient client(s.server->port());
  client.send(s.text("POST", "/v1/commands/list_sessions", "", "{}"));
  client.half_close();
  CHECK(client.reply().status == 200);
  CHECK(client.closes());
  TestClient cut(s.server->port());
  cut.send("GET / HT");
  cut.half_close();
  CHECK(cut.closes());
  CHECK(TestServer::soon([&] { return s.server->connections() == 0; }));
}

TEST_CASE("a client that goes away before its answer does no harm") {
  TestServer s(quick());
  const auto release = s.sink.hold();
  {
    TestClient client(s.server->port());
    client.send(s.text("POST", "/v1/commands/list_sessions", "", "{}"));
    CHECK(TestServer::soon([&] { return s.metrics.http_requests == 1; }));
  }
  release();
  CHECK(TestServer::soon([&] { return s.server->connections() == 0; }));
  CHECK(s.ask("GET", "/healthz").status == 200);
}

TEST_CASE("a client that does not read its answer is disconnected") {
  HttpLimits limits = quick();
  limits.idle = limits.head = Duration{60'000};
  TestServer s(limits);
  s.feed.append("s", 1'000, 8'000);
  TestClient client(s.server->port(), 4'096);
  client.send(s.text("GET", "/v1/sessions/s/events?limit=1000"));
  CHECK(TestServer::soon([&] { return s.server->connections() == 0; }));
}

TEST_CASE("connections over the limit get an error, and the others are served") {
  HttpLimits limits;
  limits.connections_max = 3;
  limits.socket_connections_kept = 0;
  TestServer s(limits);
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<TestClient>(s.server->port()));
    // With a token, so that none is closed to make room.
    clients.back()->send(s.text("GET", "/healthz"));
    CHECK(clients.back()->reply().status == 200);
  }
  CHECK(TestServer::soon([&] { return s.server->connections() == 3; }));
  TestClient over(s.server->port());
  const TestReply reply = over.reply();
  CHECK(reply.status == 503);
  CHECK(reply.code() == "overloaded");
  CHECK(reply.field("Retry-After") == "1");
  CHECK(s.metrics.http_connections_refused == 1);
  clients[0]->send(s.text("GET", "/healthz"));
  CHECK(clients[0]->reply().status == 200);
  clients.pop_back();
  CHECK(TestServer::soon([&] { return s.server->connections() == 2; }));
  CHECK(s.ask("GET", "/healthz").status == 200);
}

TEST_CASE("the connection idle for longest without a token makes way for a new one") {
  HttpLimits limits;
  limits.connections_max = 3;
  limits.socket_connections_kept = 0;
  TestServer s(limits);
  TestClient known(s.server->port());
  known.send(s.text("GET", "/healthz"));
  CHECK(known.reply().status == 200);
  TestClient first(s.server->port());
  CHECK(TestServer::soon([&] { return s.server->connections() == 2; }));
  TestClient second(s.server->port());
  CHECK(TestServer::soon([&] { return s.server->connections() == 3; }));
  CHECK(s.ask("GET", "/healthz").status == 200);
  CHECK(first.closes());
  CHECK(s.metrics.http_connections_reclaimed == 1);
  CHECK(s.metrics.http_connections_refused == 0);
  for (TestClient* client : {&known, &second}) {
    client->send(s.text("GET", "/healthz"));
    CHECK(client->reply().status == 200);
  }
}

TEST_CASE("connections are kept for the Unix socket, however many come by TCP") {
  HttpLimits limits;
  limits.connections_max = 6;
  limits.socket_connections_kept = 2;
  TestServer s(limits);
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(std::make_unique<TestClient>(s.server->port()));
    clients.back()->send(s.text("GET", "/healthz"));
    CHECK(clients.back()->reply().status == 200);
  }
  CHECK(TestClient(s.server->port()).reply().status == 503);
  for (int i = 0; i < 2; ++i) {
    clients.push_back(std::make_unique<TestClient>(s.folder.path + "/agentrt.sock"));
    clients.back()->send(s.text("GET", "/v1/sessions"));
    CHECK(clients.back()->reply().status == 200);
  }
  CHECK(TestClient(s.folder.path + "/agentrt.sock").reply().status == 503);
}

TEST_CASE("what all replies hold together is bounded, and what only reads is refused beyond it") {
  HttpLimits limits;
  limits.reply_bytes_max = 6 << 20;
  TestServer s(limits);
  s.feed.append("s", 500, 8'000);  // a page of about 4 MB
  const std::string page = "/v1/sessions/s/events?limit=500";
  auto slow = std::make_unique<TestClient>(s.server->port(), 4'096);
  slow->send(s.text("GET", page));
  CHECK(slow->read_until("\r\n\r\n").starts_with("HTTP/1.1 200"));
  const TestReply refused = s.ask("GET", page);
  CHECK(refused.status == 503);
  CHECK(refused.code() == "overloaded");
  CHECK(refused.field("Retry-After") == "1");
  CHECK(s.metrics.http_replies_refused == 1);
  // Small replies still fit, and mutating commands are always answered.
  CHECK(s.ask("GET", "/v1/sessions").status == 200);
  const std::string text(std::size_t{3} << 20, 'x');
  const std::string submit =
      fmt::format(R"({{"input":[{{"type":"text","text":"{}"}},{{"type":"text","text":"{}"}}]}})",
                  text.substr(0, text.size() / 2), text.substr(0, text.size() / 2));
  CHECK(s.ask("POST", "/v1/commands/submit_turn", "", submit).status == 200);
  CHECK_FALSE(s.ask("GET", "/metrics").body.contains("\nagentrt_http_reply_bytes 0\n"));
  slow.reset();
  CHECK(TestServer::soon([&] { return s.ask("GET", page).status == 200; }));
}

TEST_CASE("the replies of a batch count too, call by call") {
  HttpLimits limits;
  limits.reply_bytes_max = 1 << 20;
  TestServer s(limits);
  std::string batch = "[";
  for (int i = 0; i < 3; ++i)
    batch += fmt::format(R"({{"jsonrpc":"2.0","id":{0},"method":"evaluate_permission","params":)"
                         R"({{"toolName":"shell","input":{{"command":"{1}"}}}}}},)",
                         i, std::string(600'000, 'x'));
  batch.back() = ']';
  const TestReply reply = s.ask("POST", "/v1/rpc", "", batch);
  CHECK(reply.status == 200);
  CHECK(reply.body.contains(R"("id":0,"result")"));
  CHECK(reply.body.contains(R"("code":"overloaded")"));
}

TEST_CASE("/readyz says why the runtime cannot do its work") {
  TestServer s;
  CHECK(s.ask("GET", "/readyz").status == 200);
  HttpOptions options;
  options.tcp = HttpAddress{};
  options.problem = [] { return Error{Code::unavailable, "the store is gone", {}}; };
  HttpServer broken(std::move(options), s.sink, s.feed, s.outputs, s.metrics, *s.tokens,
                    test_document);
  REQUIRE(broken.start());
  TestClient client(broken.port());
  client.send(s.text("GET", "/readyz"));
  const TestReply reply = client.reply();
  CHECK(reply.status == 503);
  CHECK(reply.code() == "unavailable");
  client.send(s.text("GET", "/healthz"));
  CHECK(client.reply().status == 200);
}

TEST_CASE("running out of descriptors is a pause") {
  TestServer s(quick());
  TestClient client(s.server->port());
  client.send(s.text("GET", "/healthz"));
  CHECK(client.reply().status == 200);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const int lowest_free = ::dup(0);
  ::close(lowest_free);
  rlimit low = before;
  // Enough for the client, not for accepting it.
  low.rlim_cur = static_cast<rlim_t>(lowest_free) + 1;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  TestClient waiting(s.server->port());
  waiting.send(s.text("GET", "/healthz"));
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(waiting.reply().status == 200);
}

TEST_CASE("stopping lets an answer in progress finish and ends everything else") {
  TestServer s;
  s.feed.append("s", 1);
  TestClient stream(s.server->port());
  stream.send(s.text("GET", "/v1/sessions/s/events", "Accept: text/event-stream\r\n"));
  CHECK(stream.read_until("\n\n").contains(": ok"));
  TestClient idle(s.server->port());
  const auto release = s.sink.hold();
  TestClient asking(s.server->port());
  asking.send(s.text("POST", "/v1/commands/list_sessions", "", "{}"));
  CHECK(TestServer::soon([&] { return s.metrics.http_requests == 2; }));
  std::thread stopper([&] { s.server->stop(); });
  CHECK(idle.closes());
  CHECK(stream.closes());
  release();
  const TestReply reply = asking.reply();
  CHECK(reply.status == 200);
  CHECK(reply.field("Connection") == "close");
  stopper.join();
  CHECK(s.server->connections() == 0);
  s.server->stop();
}

TEST_CASE("a reply that comes after the server is gone is dropped") {
  TestServer s(quick());
  const auto release = s.sink.hold();
  TestClient asking(s.server->port());
  asking.send(s.text("POST", "/v1/commands/list_sessions", "", "{}"));
  CHECK(TestServer::soon([&] { return s.metrics.http_requests == 1; }));
  s.server.reset();
  CHECK(asking.closes());
  release();
}

}  // namespace agentrt::channels
