// cli/socket.h: connects to a runtime, by the socket in its data folder or by address.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/result.h"
#include "base/tls.h"

namespace agentrt::cli {

// The address of a runtime: a Unix socket if `path` is set, else host and port.
struct Endpoint {
  std::string path;
  std::string host;
  std::string port;
  std::optional<TlsContext> tls = {};  // present: https
};

// http://HOST[:PORT][/TARGET] or https://…
struct Url {
  Endpoint endpoint;  // without tls
  bool https = false;
  std::string target;  // starts with /
};
// Fails with invalid_params and a remedy if the text is not such a URL. A URL with a user name or a
// password is refused, and not repeated in the message.
Result<Url> parse_url(std::string_view text);

inline constexpr int kConnectTimeoutMs = 10'000;

// A connected socket, plain or with TLS. Never blocks. Use from one thread.
class Wire {
 public:
  struct Progress {
    std::size_t bytes = 0;
    short wait_for = 0;  // POLLIN or POLLOUT: nothing happens before the socket is ready for it
    bool ended = false;
  };

  explicit Wire(Descriptor socket) : socket_(std::move(socket)) {}

  int descriptor() const { return socket_.get(); }
  Progress receive(std::span<char> into);
  // With TLS, after `wait_for` the next call must begin with the same bytes.
  Progress send(std::string_view bytes);
  // Why the connection ended; empty: the peer closed it.
  const std::string& problem() const { return problem_; }
  // Starts TLS on the connection.
  Result<void> secure(const Endpoint& endpoint);

 private:
  Descriptor socket_;
  std::optional<TlsSession> tls_;
  std::string problem_;
};

// Fails with unavailable if the connection fails or the server's certificate is not trusted.
Result<Wire> connect_to(const Endpoint& endpoint);

}  // namespace agentrt::cli
