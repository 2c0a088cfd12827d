// channels/http_server.h: the control plane over HTTP, on TCP and on a Unix socket.
//
// One thread runs all connections and streams; nothing on it waits for the core, the disk or a
// peer. What the core and the feed have to say comes to it through an inbox. The server makes no
// decisions of its own: it decodes, authenticates, asks, and encodes.
//
// start(), stop() and the destructor: the owner's thread. port() and connections(): any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "channels/exchange.h"
#include "channels/limits.h"
#include "channels/tokens.h"
#include "ports/metrics.h"

namespace agentrt::channels {

struct HttpAddress {
  std::string host = "127.0.0.1";  // a numeric address, or localhost
  std::uint16_t port = 0;          // 0 picks one
};

struct HttpOptions {
  std::optional<HttpAddress> tcp;
  std::string socket_path;              // empty: no Unix socket
  std::vector<std::string> host_names;  // accepted in Host besides those of this machine
  HttpLimits limits;
  // Why the runtime cannot do its work, for /readyz; empty: it always can. Any thread.
  std::function<std::optional<Error>()> problem;
};

class HttpServer {
 public:
  // Everything passed by reference outlives the server. `tokens` reports revocations to it alone.
  HttpServer(HttpOptions options, ports::CommandSink& sink, ports::FactFeed& feed,
             ports::Outputs& outputs, ports::Metrics& metrics, Tokens& tokens, Documents documents);
  ~HttpServer();

  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Listens and serves from now on. invalid_params (an address or path that is none), unavailable
  // (it cannot be had). Once.
  Result<void> start();
  // Stops listening, ends every stream, lets answers under way go out for limits.stop, and joins
  // the thread. Replies that come later are dropped. Again does nothing.
  void stop();

  std::uint16_t port() const;  // 0 without TCP
  std::size_t connections() const;

 private:
  class Network;
  std::unique_ptr<Network> network_;
};

}  // namespace agentrt::channels
