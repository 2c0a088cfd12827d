// adapters/http/http_streams_test.cc: tests requests over real sockets: every one ends in time, and
// a cancelled one closes its connection.
#include "adapters/http/http_streams.h"

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <future>

#include "adapters/http/testing/fake_peer.h"

namespace agentrt::adapters {
namespace {

// Records the calls of an exchange; a test can wait for its end.
class Told final : public HttpExchange {
 public:
  explicit Told(std::string url, HttpTimeouts timeouts = {})
      : request_{std::move(url), {"X-Test: yes"}, "hello", timeouts} {}

  HttpRequest request() override { return request_; }
  void on_head(const HttpHead& told) override { head = told; }
  HttpWants on_body(std::string_view bytes) override {
    body += bytes;
    if (body.ends_with(enough)) {
      wanted_.set_value();
      return HttpWants::nothing;
    }
    return HttpWants::more;
  }
  void on_end(const HttpEnd& end) override { ended_.set_value(end); }

  HttpEnd end() {
    auto future = ended_.get_future();
    REQUIRE(future.wait_for(std::chrono::milliseconds(kPeerWaitMs)) == std::future_status::ready);
    return future.get();
  }
  void wait_until_enough() {
    REQUIRE(wanted_.get_future().wait_for(std::chrono::milliseconds(kPeerWaitMs)) ==
            std::future_status::ready);
  }

  // Only connections to addresses that the test accepts are made.
  void restrict(AddressTest admits) { request_.admits = std::move(admits); }

  HttpHead head;  // read it only after the end
  std::string body;
  std::string enough = "\n\n\n";

 private:
  HttpRequest request_;
  std::promise<HttpEnd> ended_;
  std::promise<void> wanted_;
};

constexpr std::string_view kGood =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 4\r\n\r\n";

}  // namespace

TEST_CASE("a request is a POST with its headers, and its answer comes whole") {
  Peer peer;
  HttpStreams streams;
  auto told = std::make_shared<Told>(peer.url());
  streams.start(told);
  const std::string request = peer.accept();
  CHECK(request.starts_with("POST /v1 HTTP/1.1\r\n"));
  CHECK(request.contains("X-Test: yes\r\n"));
  CHECK_FALSE(request.contains("Expect:"));
  peer.send(std::string("HTTP/1.1 100 Continue\r\n\r\n") + std::string(kGood) + "data");
  CHECK(told->end().ending == HttpEnding::complete);
  CHECK(told->head.status == 200);
  CHECK(told->head.content_type == "text/event-stream");
  CHECK(told->body == "data");
}

TEST_CASE("the wish to wait is read in seconds, milliseconds and dates") {
  for (const auto& [header, expected] :
       {std::pair{"Retry-After: 2", 2'000}, std::pair{"retry-after: 1.5", 1'500},
        std::pair{"retry-after-ms: 250", 250}, std::pair{"Retry-After: 999999999", 3'600'000},
        std::pair{"Retry-After: Thu, 01 Jan 1970 00:00:10 GMT", 0}}) {
    CAPTURE(header);
    Peer peer;
    HttpStreams streams;
    auto told = std::make_shared<Told>(peer.url());
    streams.start(told);
    peer.accept();
    peer.send(std::string("HTTP/1.1 429 No\r\nContent-Length: 0\r\n") + header + "\r\n\r\n");
    CHECK(told->end().ending == HttpEnding::complete);
    CHECK(told->head.status == 429);
    CHECK(told->head.retry_after_ms == expected);
  }
}

TEST_CASE("a cancelled exchange closes its connection and hears nothing more") {
  Peer peer;
  HttpStreams streams;
  auto told = std::make_shared<Told>(peer.url());
  const auto ticket = streams.start(told);
  peer.accept();
  peer.send(std::string(kGood) + "da");
  streams.cancel(ticket);
  CHECK(peer.closed());
  streams.stop();
  CHECK(told.use_count() == 1);
}

TEST_CASE("stopping closes exchanges that are in flight") {
  Peer peer;
  auto told = std::make_shared<Told>(peer.url());
  {
    HttpStreams streams;
    streams.start(told);
    peer.accept();
  }
  CHECK(peer.closed());
}

TEST_CASE("silence is a time-out, before the first byte and between two") {
  Peer peer;
  HttpStreams streams;
  auto silent = std::make_shared<Told>(peer.url(), HttpTimeouts{.first_byte_ms = 50});
  streams.start(silent);
  peer.accept();
  CHECK(silent->end().ending == HttpEnding::first_byte_timeout);
  CHECK(peer.closed());

  auto stalled = std::make_shared<Told>(peer.url(), HttpTimeouts{.idle_ms = 50});
  streams.start(stalled);
  peer.accept();
  peer.send(std::string(kGood) + "da");
  CHECK(stalled->end().ending == HttpEnding::idle_timeout);
  CHECK(stalled->body == "da");

  auto slow = std::make_shared<Told>(peer.url(), HttpTimeouts{.whole_ms = 80});
  streams.start(slow);
  peer.accept();
  peer.send(std::string(kGood) + "da");
  CHECK(slow->end().ending == HttpEnding::whole_timeout);
}

TEST_CASE("a connection that is not made in time is a time-out of its own") {
  HttpStreams streams;  // 192.0.2.0/24 is unassigned: no answer, or refused locally
  auto told = std::make_shared<Told>("http://192.0.2.1/", HttpTimeouts{.connect_ms = 50});
  streams.start(told);
  const HttpEnding ending = told->end().ending;
  CHECK((ending == HttpEnding::connect_timeout || ending == HttpEnding::unreachable));
}

TEST_CASE("nobody there and a connection that breaks are told apart") {
  HttpStreams streams;
  std::string url;
  {
    Peer peer;
    url = peer.url();
    auto broken = std::make_shared<Told>(url);
    streams.start(broken);
    peer.accept();
    peer.send(std::string(kGood) + "da");
    peer.close();
    CHECK(broken->end().ending == HttpEnding::broken);
  }
  auto gone = std::make_shared<Told>(url);
  streams.start(gone);
  const HttpEnd end = gone->end();
  CHECK(end.ending == HttpEnding::unreachable);
  CHECK_FALSE(end.detail.empty());
}

TEST_CASE(
    "requests beyond the limit in flight wait, and those beyond the queue limit are refused") {
  Peer peer;
  HttpStreams streams{HttpLimits{.exchanges_max = 1, .waiting_max = 1}};
  auto first = std::make_shared<Told>(peer.url());
  auto second = std::make_shared<Told>(peer.url());
  auto third = std::make_shared<Told>(peer.url());
  const auto ticket = streams.start(first);
  peer.accept();
  streams.start(second);
  streams.start(third);
  CHECK(third->end().ending == HttpEnding::overloaded);
  streams.cancel(ticket);
  peer.accept();
  peer.send(std::string(kGood) + "data");
  CHECK(second->end().ending == HttpEnding::complete);
}

TEST_CASE("an answer that nobody wants more of is read to its end to keep the connection") {
  Peer peer;
  HttpStreams streams;
  auto first = std::make_shared<Told>(peer.url());
  first->enough = "da";
  streams.start(first);
  peer.accept();
  peer.send(std::string(kGood) + "da");
  first->wait_until_enough();
  peer.send("ta");
  auto second = std::make_shared<Told>(peer.url());
  // The second request can reuse the connection only after the first response is complete.
  ::usleep(50'000);
  streams.start(second);
  CHECK(peer.receive("hello").starts_with("POST"));
  peer.send(std::string(kGood) + "data");
  CHECK(second->end().ending == HttpEnding::complete);
}

TEST_CASE("an answer that nobody wants more of and that does not end is cut") {
  Peer peer;
  HttpStreams streams{HttpLimits{.linger_ms = 30}};
  auto told = std::make_shared<Told>(peer.url());
  told->enough = "da";
  streams.start(told);
  peer.accept();
  peer.send(std::string(kGood) + "da");
  CHECK(peer.closed());
}

TEST_CASE("a restricted request connects only to addresses that it accepts, and to no proxy") {
  Peer peer, proxy;
  ::setenv("http_proxy", proxy.url().c_str(), 1);
  HttpStreams streams;
  std::vector<unsigned> seen;
  const auto test = [&](bool accepts) {
    return [&seen, accepts](const sockaddr& address) {
      seen.push_back(ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr));
      return accepts;
    };
  };
  auto refused = std::make_shared<Told>(peer.url());
  refused->restrict(test(false));
  streams.start(refused);
  CHECK(refused->end().ending == HttpEnding::refused_address);
  auto accepted = std::make_shared<Told>(peer.url());
  accepted->restrict(test(true));
  streams.start(accepted);
  CHECK(peer.accept().contains("POST /v1 HTTP"));
  peer.send("HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n");
  CHECK(accepted->end().ending == HttpEnding::complete);
  CHECK(accepted->head.location == "/x");
  CHECK(seen == std::vector<unsigned>{INADDR_LOOPBACK, INADDR_LOOPBACK});
  ::unsetenv("http_proxy");
}

}  // namespace agentrt::adapters
