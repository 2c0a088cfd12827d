// cli/socket.h: a connection to a runtime: by its socket in the data folder, or by an address.
#pragma once

#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/result.h"

namespace agentrt::cli {

// Where a runtime answers. `path` is a socket's; with none it is host and port.
struct Endpoint {
  std::string path;
  std::string host;
  std::string port;
};

// http://HOST[:PORT][/TARGET]
struct Url {
  Endpoint endpoint;
  std::string target;  // begins with /
};
// invalid_params, with what to do: it is no such address.
Result<Url> parse_url(std::string_view text);

inline constexpr int kConnectTimeoutMs = 10'000;

// A connected socket that does not block. unavailable: nobody answers there.
Result<Descriptor> connect_to(const Endpoint& endpoint);

}  // namespace agentrt::cli
