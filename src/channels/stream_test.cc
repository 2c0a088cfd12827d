#include "channels/testing/client_fixture.h"

// Tests pages and live streams over real sockets.
namespace agentrt::channels {
namespace {

constexpr std::string_view kStream = "Accept: text/event-stream\r\n";

// A client that requested a stream; head() and each frame are read in order.
struct Follower {
  TestClient client;

  Follower(const TestServer& s, std::string_view target, std::string_view fields = "")
      : client(s.server->port()) {
    client.send(s.text("GET", target, fmt::format("{}{}", kStream, fields)));
  }
  std::string head() { return client.read_until("\n: ok\n\n"); }
  std::string frame() { return client.read_until("\n\n"); }
  // The id: line of the next frame.
  std::string id() {
    const std::string text = frame();
    return text.substr(0, text.find('\n'));
  }
};

}  // namespace

TEST_CASE("a page of events says where it ends and whether more follows") {
  TestServer s;
  s.feed.append("s", 5);
  const TestReply first = s.ask("GET", "/v1/sessions/s/events?after=1&limit=2");
  CHECK(first.status == 200);
  CHECK(first.body.starts_with(R"({"data":[{"type":"test.happened","eventId":"evt_s_2")"));
  CHECK(first.body.ends_with(R"(],"nextCursor":"3","cursor":"3","generation":"gen_1"})"));
  const TestReply last = s.ask("GET", "/v1/sessions/s/events?cursor=3&limit=5000");
  CHECK(last.body.contains("evt_s_5"));
  CHECK(last.body.ends_with(R"(],"cursor":"5","generation":"gen_1"})"));
  CHECK(s.ask("GET", "/v1/sessions/s/events?after=5").body ==
        R"({"data":[],"cursor":"5","generation":"gen_1"})");
}

TEST_CASE("a page over all sessions is in commit order with an opaque cursor") {
  TestServer s;
  s.feed.append("a", 1);
  s.feed.append("b", 1);
  s.feed.append("a", 1);
  const TestReply first = s.ask("GET", "/v1/events?limit=2");
  CHECK(first.body.find("evt_a_1") < first.body.find("evt_b_1"));
  const std::size_t at = first.body.find("\"nextCursor\":\"") + 14;
  const std::string cursor = first.body.substr(at, first.body.find('"', at) - at);
  const TestReply next = s.ask("GET", "/v1/events?cursor=" + cursor);
  CHECK(next.body.contains("evt_a_2"));
  CHECK(!next.body.contains("evt_b_1"));
  CHECK(!next.body.contains("nextCursor"));
}

TEST_CASE("places that are none are refused before a stream begins, as pages and as streams") {
  TestServer s;
  s.feed.append("s", 2);
  for (const std::string_view accept : {std::string_view{}, kStream}) {
    const auto status = [&](std::string_view target, std::string_view fields = "") {
      return s.ask("GET", target, fmt::format("{}{}", accept, fields)).status;
    };
    CHECK(status("/v1/sessions/none/events") == 404);
    CHECK(status("/v1/sessions/s/events?after=3") == 410);
    CHECK(status("/v1/sessions/s/events?after=1&generation=gen_0") == 410);
    CHECK(status("/v1/sessions/s/events?after=1&generation=gen_1", "Last-Event-ID: 9\r\n") == 410);
    CHECK(status("/v1/sessions/s/events?after=x") == 400);
    CHECK(status("/v1/sessions/s/events?after=-1") == 400);
    CHECK(status("/v1/sessions/s/events?after=1&cursor=1") == 400);
    CHECK(status("/v1/sessions/s/events?generation=a%20b") == 400);
    CHECK(status("/v1/sessions/s/events", "Last-Event-ID: x\r\n") == 400);
    CHECK(status("/v1/events?after=x") == 400);
    CHECK(status("/v1/events?after=1.gen_0") == 410);
    CHECK(status("/v1/events?after=3.gen_1") == 410);
  }
  CHECK(s.ask("GET", "/v1/sessions/s/events?limit=0").status == 400);
  CHECK(s.metrics.subscribers == 0);
}

TEST_CASE("a stream begins at once, goes from disk to live without a seam, and states its store") {
  TestServer s;
  s.feed.append("s", 3);
  Follower follower(s, "/v1/sessions/s/events?after=1");
  const std::string head = follower.head();
  CHECK(head.contains("HTTP/1.1 200 OK\r\n"));
  CHECK(head.contains("Content-Type: text/event-stream\r\n"));
  CHECK(head.contains("X-Agentrt-Generation: gen_1\r\n"));
  CHECK(follower.id() == "id: 2");
  CHECK(follower.id() == "id: 3");
  s.feed.append("other", 1);
  s.feed.append("s", 1);
  const std::string frame = follower.frame();
  CHECK(
      frame.starts_with("id: 4\nevent: test.happened\ndata: {\"type\":\"test.happened\","
                        "\"eventId\":\"evt_s_4\""));
  CHECK(s.metrics.subscribers == 1);
}

TEST_CASE("an empty stream begins at once too") {
  TestServer s;
  s.feed.append("s", 1);
  Follower follower(s, "/v1/sessions/s/events?after=1");
  CHECK(!follower.head().empty());
  s.feed.append("s", 1);
  CHECK(follower.id() == "id: 2");
}

TEST_CASE("a filter applies to pages and to stored and live events of a stream") {
  HttpLimits limits;
  limits.stream.keepalive = Duration(50);
  TestServer s(limits);
  s.feed.append("s", 2);
  s.feed.append("s", 1, 16, "test.wanted");
  s.feed.append("s", 2);
  const TestReply page = s.ask("GET", "/v1/sessions/s/events?types=test.wanted,test.other");
  CHECK(page.body.contains("evt_s_3"));
  CHECK(!page.body.contains("evt_s_2"));
  CHECK(page.body.contains(R"("cursor":"5")"));
  CHECK(s.ask("GET", "/v1/events?types=").status == 400);
  CHECK(s.ask("GET", "/v1/events?types=a%20b").status == 400);
  Follower follower(s, "/v1/sessions/s/events?types=test.wanted");
  follower.head();
  CHECK(follower.id() == "id: 3");
  CHECK(follower.frame() == ": keep-alive\nid: 5\n\n");
  s.feed.append("s", 1);
  s.feed.append("s", 1, 16, "test.wanted");
  std::string frame = follower.frame();
  while (frame.starts_with(':')) frame = follower.frame();
  CHECK(frame.starts_with("id: 7\nevent: test.wanted\n"));
}

TEST_CASE("a client that starts at the end learns where that is") {
  TestServer s;
  s.feed.append("a", 3);
  CHECK(s.ask("GET", "/v1/events?cursor=end").body ==
        R"({"data":[],"cursor":"3.gen_1","generation":"gen_1"})");
  Follower follower(s, "/v1/events?cursor=end");
  follower.head();
  CHECK(follower.frame() == "id: 3.gen_1\n\n");
  s.feed.append("b", 1);
  CHECK(follower.id() == "id: 4.gen_1");
}

TEST_CASE("Last-Event-ID beats after") {
  TestServer s;
  s.feed.append("s", 5);
  Follower follower(s, "/v1/sessions/s/events?after=1", "Last-Event-ID: 3\r\n");
  follower.head();
  CHECK(follower.id() == "id: 4");
}

TEST_CASE("the stream over all sessions is resumed by its own ids") {
  TestServer s;
  s.feed.append("a", 1);
  s.feed.append("b", 1);
  std::string last;
  {
    Follower follower(s, "/v1/events");
    follower.head();
    CHECK(follower.frame().contains("evt_a_1"));
    last = follower.id();
    s.feed.append("c", 1);
    CHECK(follower.frame().contains("evt_c_1"));
  }
  Follower follower(s, "/v1/events", fmt::format("Last-Event-ID: {}\r\n", last.substr(4)));
  follower.head();
  CHECK(follower.frame().contains("evt_c_1"));
  s.feed.append("a", 1);
  CHECK(follower.frame().contains("evt_a_2"));
}

TEST_CASE("with many subscribers writes come in rounds, and each still gets every fact in order") {
  HttpLimits limits;
  limits.stream.paced_from = 2;
  limits.stream.pace = std::chrono::milliseconds(20);
  TestServer s(limits);
  s.feed.append("s", 1);
  Follower one(s, "/v1/sessions/s/events"), other(s, "/v1/sessions/s/events");
  for (Follower* follower : {&one, &other}) {
    follower->head();
    CHECK(follower->id() == "id: 1");
  }
  constexpr std::size_t kRounds = 5;
  for (std::size_t round = 0; round < kRounds; ++round) s.feed.append("s", 10);
  for (Follower* follower : {&one, &other})
    for (std::size_t next = 2; next <= 1 + 10 * kRounds; ++next)
      CHECK(follower->id() == fmt::format("id: {}", next));
}

TEST_CASE("subscribers that come and go while facts pour in miss and repeat nothing") {
  HttpLimits limits;
  limits.stream.page_events_max = 7;
  TestServer s(limits);
  s.feed.append("s", 20);
  constexpr std::size_t kTotal = 3'000;
  std::thread writer([&] {
    for (std::size_t at = 20; at < kTotal; at += 4) s.feed.append("s", 4);
  });
  std::vector<std::thread> readers;
  std::atomic<int> wrong{0};
  for (int r = 0; r < 4; ++r)
    readers.emplace_back([&, r] {
      std::size_t next = static_cast<std::size_t>(r) + 1;
      while (next <= kTotal) {
        Follower follower(s, fmt::format("/v1/sessions/s/events?after={}", next - 1));
        if (follower.head().empty()) ++wrong;
        for (std::size_t i = 0; i < 400 && next <= kTotal; ++i, ++next)
          if (follower.id() != fmt::format("id: {}", next)) {
            ++wrong;
            return;
          }
      }
    });
  writer.join();
  for (std::thread& reader : readers) reader.join();
  CHECK(wrong == 0);
  CHECK(TestServer::soon([&] { return s.server->connections() == 0; }));
  CHECK(s.metrics.subscribers == 0);
}

TEST_CASE("facts that were stored but never published are read from disk") {
  TestServer s;
  s.feed.append("s", 1);
  Follower follower(s, "/v1/sessions/s/events");
  follower.head();
  CHECK(follower.id() == "id: 1");
  s.feed.publish(FakeFeed::Publishing::off);
  s.feed.append("s", 3);
  s.feed.publish(FakeFeed::Publishing::on);
  s.feed.append("s", 1);
  for (const char* id : {"id: 2", "id: 3", "id: 4", "id: 5"}) CHECK(follower.id() == id);
}

TEST_CASE("an intake that is full costs nobody a fact") {
  HttpLimits limits;
  limits.stream.intake_events_max = 2;
  TestServer s(limits);
  s.feed.append("s", 1);
  Follower follower(s, "/v1/sessions/s/events");
  follower.head();
  CHECK(follower.id() == "id: 1");
  for (int i = 0; i < 500; ++i) s.feed.append("s", 1);
  for (int i = 2; i <= 501; ++i) CHECK(follower.id() == fmt::format("id: {}", i));
}

TEST_CASE("more streams than reads may run at once all begin") {
  HttpLimits limits;
  limits.stream.page_reads_max = 1;
  TestServer s(limits);
  s.feed.append("s", 3);
  std::vector<std::unique_ptr<Follower>> followers;
  for (int i = 0; i < 20; ++i)
    followers.push_back(std::make_unique<Follower>(s, "/v1/sessions/s/events"));
  for (const auto& follower : followers) {
    CHECK(!follower->head().empty());
    for (const char* id : {"id: 1", "id: 2", "id: 3"}) CHECK(follower->id() == id);
  }
}

TEST_CASE(
    "a subscriber that does not read overflows, delays no other and gets the place to resume") {
  HttpLimits limits;
  limits.stream.behind_events_max = 1'000;
  limits.stream.queue_bytes_max = 64 << 10;
  limits.stream.send_buffer_bytes = 16 << 10;
  TestServer s(limits);
  s.feed.append("s", 1);
  TestClient slow(s.server->port(), 4'096);
  slow.send(s.text("GET", "/v1/sessions/s/events", kStream));
  slow.read_until("\n: ok\n\n");
  Follower quick(s, "/v1/sessions/s/events");
  quick.head();
  CHECK(quick.id() == "id: 1");
  for (int i = 2; i <= 4'000; ++i) {
    s.feed.append("s", 1, 200);
    REQUIRE(quick.id() == fmt::format("id: {}", i));
  }
  CHECK(TestServer::soon([&] { return s.metrics.subscribers_overflowed == 1; }));
  const auto [rest, closed] = slow.read_to_end();
  CHECK(closed);
  const std::size_t last = rest.rfind("\nid: ") + 5;
  const std::string resume = rest.substr(last, rest.find('\n', last) - last);
  CHECK(rest.ends_with(
      fmt::format("event: stream.overflow\ndata: {{\"resumeAfter\":{}}}\n\n", resume)));
  Follower again(s, "/v1/sessions/s/events?after=" + resume);
  again.head();
  CHECK(again.id() == fmt::format("id: {}", std::stoi(resume) + 1));
}

TEST_CASE("a subscriber that takes nothing for too long is closed") {
  HttpLimits limits;
  limits.stream.stall = Duration{100};
  limits.stream.send_buffer_bytes = 16 << 10;
  TestServer s(limits);
  s.feed.append("s", 2'000, 1'000);
  TestClient slow(s.server->port(), 4'096);
  slow.send(s.text("GET", "/v1/sessions/s/events", kStream));
  CHECK(TestServer::soon([&] { return s.metrics.subscribers == 1; }));
  CHECK(TestServer::soon([&] { return s.metrics.subscribers == 0; }));
  CHECK(s.server->connections() == 0);
}

TEST_CASE("a quiet stream is kept alive by comments") {
  HttpLimits limits;
  limits.stream.keepalive = Duration{20};
  TestServer s(limits);
  s.feed.append("s", 1);
  Follower follower(s, "/v1/sessions/s/events?after=1");
  follower.head();
  CHECK(follower.frame() == ": keep-alive\n\n");
  CHECK(follower.frame() == ": keep-alive\n\n");
}

TEST_CASE("revoking a token closes the streams it opened, and no others") {
  TestServer s;
  s.feed.append("s", 1);
  const std::string token = s.token({TokenScope::read});
  const std::string id = s.last_token_id;
  Follower theirs(s, "/v1/sessions/s/events", fmt::format("Authorization: Bearer {}\r\n", token));
  Follower ours(s, "/v1/sessions/s/events");
  CHECK(!theirs.head().empty());
  CHECK(!ours.head().empty());
  CHECK(s.ask("DELETE", "/v1/tokens/" + id).status == 200);
  CHECK(theirs.client.closes());
  CHECK(ours.id() == "id: 1");
  s.feed.append("s", 1);
  CHECK(ours.id() == "id: 2");
}

TEST_CASE("the streams of a token end when it expires") {
  TestServer s;
  s.feed.append("s", 1);
  const auto token = s.tokens->create({{TokenScope::read}, {}, {}, {}, Timestamp{2'000}});
  Follower theirs(s, "/v1/sessions/s/events",
                  fmt::format("Authorization: Bearer {}\r\n", token->token));
  CHECK(!theirs.head().empty());
  CHECK(theirs.id() == "id: 1");
  const Instant before = Clock::now();
  s.wall_ms = 2'000;
  CHECK(theirs.client.closes());
  CHECK(Clock::now() - before < std::chrono::seconds(1));
}

TEST_CASE("a follower that goes away, or half away, leaves nothing behind") {
  TestServer s;
  s.feed.append("s", 1);
  {
    Follower gone(s, "/v1/sessions/s/events");
    gone.head();
    Follower half(s, "/v1/sessions/s/events");
    half.head();
    CHECK(s.metrics.subscribers == 2);
    half.client.half_close();
    CHECK(TestServer::soon([&] { return s.metrics.subscribers == 1; }));
  }
  CHECK(TestServer::soon([&] { return s.metrics.subscribers == 0; }));
  CHECK(TestServer::soon([&] { return s.server->connections() == 0; }));
}

TEST_CASE("a stream over the Unix socket is the same") {
  TestServer s;
  s.feed.append("s", 1);
  TestClient client(s.folder.path + "/agentrt.sock");
  client.send(s.text("GET", "/v1/sessions/s/events", kStream));
  CHECK(client.read_until(": ok\n\n").contains("200 OK"));
  CHECK(client.read_until("\n\n").starts_with("id: 1\n"));
}

TEST_CASE("a read that fails for load while a stream catches up is asked again") {
  HttpLimits limits;
  limits.stream.keepalive = Duration{40};  // the periodic sweep retries at this interval
  TestServer s(limits);
  s.feed.append("s", 1);
  Follower follower(s, "/v1/sessions/s/events");
  follower.head();
  CHECK(follower.id() == "id: 1");
  s.feed.publish(FakeFeed::Publishing::off);
  s.feed.append("s", 1);
  s.feed.fail_reads(2, {Code::overloaded, "busy", {}});
  s.feed.publish(FakeFeed::Publishing::on);
  s.feed.append("s", 1);
  std::string text;
  while (!text.starts_with("id: ")) text = follower.frame();
  CHECK(text.starts_with("id: 2\n"));
}

}  // namespace agentrt::channels
