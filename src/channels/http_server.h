// channels/http_server.h: the HTTP server of the control plane, on TCP and on a Unix socket.
//
// One thread runs all connections and streams and never blocks on the core, the disk or a peer.
// Results of the core and the feed arrive through an inbox. The server makes no decisions: it
// decodes, authenticates, forwards and encodes.
//
// start(), stop() and the destructor: the owner's thread. port(), connections() and accepted(): any
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/tls.h"
#include "channels/desk/in_process.h"
#include "channels/exchange.h"
#include "channels/limits.h"
#include "channels/tokens.h"
#include "ports/metrics.h"

namespace agentrt::channels {

struct HttpAddress {
  std::string host = "127.0.0.1";  // a numeric address, or localhost
  std::uint16_t port = 0;          // 0: a free port is chosen
};

struct HttpOptions {
  std::optional<HttpAddress> tcp;
  std::string socket_path;              // empty: no Unix socket
  std::vector<std::string> host_names;  // accepted in Host, in addition to this machine's
  std::vector<std::string> origins;     // of other sites whose pages may call, with a token
  HttpLimits limits;
  std::optional<TlsContext> tls;  // TCP connections speak TLS
  // Why the runtime cannot work, for /readyz; may be empty. Any thread.
  std::function<std::optional<Error>()> problem;
  // For /v1/owner/leave; empty: the request is refused. Any thread.
  Leave leave;
  ports::ClientEnvironments* environments = nullptr;  // outlives the server; null: none are taken
  ports::McpAccess* mcp = nullptr;                    // the same; null: no MCP servers
  Page page;                                          // empty: there is none
  ports::ChannelPlane* channels = nullptr;            // outlives the server; null: not reported
};

class HttpServer {
 public:
  // References must outlive the server. `tokens` reports revocations only to this server.
  HttpServer(HttpOptions options, ports::CommandSink& sink, ports::FactFeed& feed,
             ports::Outputs& outputs, ports::Metrics& metrics, Tokens& tokens, Documents documents);
  ~HttpServer();

  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Starts listening and serving. Call once. Errors: invalid_params: not an address or path;
  // unavailable: it cannot be bound.
  Result<void> start();
  // Stops listening, ends all streams, lets pending replies finish within limits.stop, and joins
  // the thread. Later replies are dropped. Idempotent.
  void stop();

  // For the program that this server is part of; see channels/desk/in_process.h. Both wait; the
  // error is unavailable if the server stops first. Any thread, but not from within a callback.
  Result<std::string> call(std::string command, std::string params);
  Result<std::unique_ptr<EventFeed>> subscribe(SessionId session, Sequence after, OnEvent on_event);

  // Uses this certificate for new connections. Any thread.
  void set_tls(TlsContext context);

  std::uint16_t port() const;  // 0 without TCP
  std::size_t connections() const;
  // How many were accepted since the start.
  std::uint64_t accepted() const;

 private:
  class Network;
  std::unique_ptr<Network> network_;
};

}  // namespace agentrt::channels
