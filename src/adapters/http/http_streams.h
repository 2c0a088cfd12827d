// adapters/http/http_streams.h: HTTP and HTTPS requests whose answers are streamed, on a thread
// of their own.
//
// Certificates are checked (SSL_CERT_FILE and SSL_CERT_DIR name other authorities), proxies come
// from the usual environment variables, redirects are not followed. Every exchange ends: by its
// answer, by one of four time-outs, or by cancel(), which closes its connection.
//
// Thread rule: start(), cancel() and stop() on any thread; an HttpExchange is called on the thread
// of the streams alone, and never again once cancel() was carried out there.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/result.h"

namespace agentrt::adapters {

struct HttpTimeouts {
  std::int64_t connect_ms = 10'000;
  // From the start to the first byte of the body: a local server may load its model first.
  std::int64_t first_byte_ms = 300'000;
  std::int64_t idle_ms = 120'000;     // between two pieces of it
  std::int64_t whole_ms = 3'600'000;  // of the whole answer, so that none goes on for ever

  bool operator==(const HttpTimeouts&) const = default;
};

struct HttpLimits {
  std::size_t exchanges_max = 256;   // under way; more wait
  std::size_t waiting_max = 10'000;  // more are refused
  // For the rest of an answer that nobody wants: a connection that is read to its end is kept.
  std::int64_t linger_ms = 500;
  std::size_t linger_bytes_max = 64 << 10;
};

enum class HttpMethod { post, get, delete_ };

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  std::string body;                  // sent with POST
  HttpTimeouts timeouts;
  HttpMethod method = HttpMethod::post;
};

struct HttpHead {
  std::uint64_t status = 0;
  std::string content_type;
  std::optional<std::int64_t> retry_after_ms;
  std::optional<std::string> mcp_session;  // Mcp-Session-Id
};

enum class HttpEnding {
  complete,      // the whole body came
  unreachable,   // no connection: no such host, refused
  refused_peer,  // its certificate was not accepted
  broken,        // the connection did not hold, or the peer spoke no HTTP
  connect_timeout,
  first_byte_timeout,
  idle_timeout,
  whole_timeout,
  overloaded,   // too many exchanges wait already
  unavailable,  // this machine cannot make requests
};

struct HttpEnd {
  HttpEnding ending = HttpEnding::complete;
  std::string detail;  // the library's words
};

// What an exchange still wants of its answer.
enum class HttpWants { more, nothing };

class HttpExchange {
 public:
  virtual ~HttpExchange() = default;
  virtual HttpRequest request() = 0;  // called once, first
  virtual void on_head(const HttpHead& head) = 0;
  virtual HttpWants on_body(std::string_view bytes) = 0;
  // Not called once on_body() wanted nothing more.
  virtual void on_end(const HttpEnd& end) = 0;
};

class HttpStreams {
 public:
  using Ticket = std::uint64_t;
  explicit HttpStreams(HttpLimits limits = {});
  ~HttpStreams();  // stops
  HttpStreams(const HttpStreams&) = delete;
  HttpStreams& operator=(const HttpStreams&) = delete;

  Ticket start(std::shared_ptr<HttpExchange> exchange);
  // Closes its connection; the exchange is let go of. A ticket that is over is ignored.
  void cancel(Ticket ticket);
  // Cancels what is under way and ends the thread.
  void stop();

 private:
  class Pump;  // the thread's own: libcurl, what is under way
  struct Order {
    Ticket ticket = 0;
    std::shared_ptr<HttpExchange> exchange;  // empty: cancel
  };

  void run();
  void refuse_all(const std::string& why);
  void put(Order order);

  const HttpLimits limits_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable ordered_;
  std::deque<Order> orders_;
  Pump* pump_ = nullptr;  // to be woken, while it polls
  Ticket last_ = 0;
  bool stopping_ = false;
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace agentrt::adapters
