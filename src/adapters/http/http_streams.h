// adapters/http/http_streams.h: HTTP and HTTPS requests with streamed responses, on one thread.
//
// Certificates are verified (SSL_CERT_FILE and SSL_CERT_DIR name other authorities). Proxies come
// from the usual environment variables, except for a request that restricts the addresses of its
// server: only a direct connection can be checked. Redirects are not followed. Cookies, netrc files
// and stored logins are not used. Every exchange ends: with its response, by one of four timeouts,
// or by cancel(), which closes its connection.
//
// Threads: start(), cancel() and stop() on any thread. An HttpExchange is called only on the
// streams' thread, and no longer after that thread has processed its cancel().
#pragma once

#include <sys/socket.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
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
  // From the start to the first byte of the body. Long, because a local server may load its model
  // first.
  std::int64_t first_byte_ms = 300'000;
  std::int64_t idle_ms = 120'000;     // between two pieces of the body
  std::int64_t whole_ms = 3'600'000;  // for the complete response

  bool operator==(const HttpTimeouts&) const = default;
};

struct HttpLimits {
  std::size_t exchanges_max = 256;   // in flight; further ones are queued
  std::size_t waiting_max = 10'000;  // queued; further ones are refused
  // How long to read the rest of an unwanted response, so that its connection can be reused.
  std::int64_t linger_ms = 500;
  std::size_t linger_bytes_max = 64 << 10;
};

// Of www_authenticate; a longer one is cut.
inline constexpr std::size_t kFieldBytesMax = 64 << 10;

enum class HttpMethod { post, get, delete_ };

// Whether a connection to this address may be made. Called with each address that a host name
// resolves to, immediately before the connection to exactly that address.
using AddressTest = std::function<bool(const sockaddr& address)>;

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  std::string body;                  // sent with POST
  HttpTimeouts timeouts;
  HttpMethod method = HttpMethod::post;
  AddressTest admits = {};  // empty: any address, also through a proxy
  bool compressed = false;  // accept a compressed body; on_body() gets it decompressed
};

struct HttpHead {
  std::uint64_t status = 0;
  std::string content_type;
  std::optional<std::int64_t> retry_after_ms;
  std::optional<std::string> mcp_session;  // Mcp-Session-Id
  std::optional<std::string> location;     // as sent
  std::string www_authenticate;            // all fields, joined by commas; cut at kFieldBytesMax
  std::string etag;
  std::string cache_control;
  std::string peer;  // numeric address of the server, or of the proxy; empty: unknown
};

enum class HttpEnding {
  complete,         // the complete body arrived
  unreachable,      // no connection: unknown host, refused
  refused_peer,     // the certificate was not accepted
  refused_address,  // HttpRequest::admits accepted no address of the host
  broken,           // the connection broke, or the peer does not speak HTTP
  connect_timeout,
  first_byte_timeout,
  idle_timeout,
  whole_timeout,
  overloaded,   // too many exchanges are queued
  unavailable,  // libcurl is not available
};

struct HttpEnd {
  HttpEnding ending = HttpEnding::complete;
  std::string detail;  // libcurl's error message
};

// Whether an exchange wants more of the response.
enum class HttpWants { more, nothing };

class HttpExchange {
 public:
  virtual ~HttpExchange() = default;
  virtual HttpRequest request() = 0;  // called once, before anything else
  virtual void on_head(const HttpHead& head) = 0;
  virtual HttpWants on_body(std::string_view bytes) = 0;
  // Not called after on_body() returned `nothing`.
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
  // Closes the connection and releases the exchange. Ignores a ticket whose exchange has ended.
  void cancel(Ticket ticket);
  // Cancels all exchanges and ends the thread.
  void stop();

 private:
  class Pump;  // state of the thread: libcurl and the exchanges in flight
  struct Order {
    Ticket ticket = 0;
    std::shared_ptr<HttpExchange> exchange;  // null: cancel
  };

  void run();
  void refuse_all(const std::string& why);
  void put(Order order);

  const HttpLimits limits_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable ordered_;
  std::deque<Order> orders_;
  Pump* pump_ = nullptr;  // to wake the thread from its poll
  Ticket last_ = 0;
  bool stopping_ = false;
  std::thread thread_;  // the last member, because it uses the others
};

}  // namespace agentrt::adapters
