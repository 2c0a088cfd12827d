// cli/socket.h: connects to a runtime, by the socket in its data folder or by address.
#pragma once

#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/result.h"

namespace agentrt::cli {

// The address of a runtime: a Unix socket if `path` is set, else host and port.
struct Endpoint {
  std::string path;
  std::string host;
  std::string port;
};

// http://HOST[:PORT][/TARGET]
struct Url {
  Endpoint endpoint;
  std::string target;  // starts with /
};
// Fails with invalid_params and a remedy if the text is not such a URL.
Result<Url> parse_url(std::string_view text);

inline constexpr int kConnectTimeoutMs = 10'000;

// Returns a connected, non-blocking socket. Fails with unavailable if the connection fails.
Result<Descriptor> connect_to(const Endpoint& endpoint);

}  // namespace agentrt::cli
