// adapters/mcp/pool.h: the pool of open MCP connections, one per session and server.
//
// A connection is opened when a session first lists or calls the server's tools. All turns of the
// session share it. It is closed after idle_ms without use. A dead connection is reopened on the
// next use, with backoff: from the second consecutive failure on, each doubles the time in which
// the server is reported as unavailable, with the reason of the failure. A server that needs a
// login is retried on every use.
//
// Threads: everything, including callbacks, runs on one loop.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "adapters/mcp/client.h"
#include "ports/tools.h"

namespace agentrt::adapters {

// Limit for the tools of all servers of a session together: they are part of a fact of every turn.
inline constexpr std::size_t kMcpCatalogBytesMax = 256 * 1024;

struct McpLimits {
  std::size_t connections_max = 64;     // over all sessions
  std::int64_t idle_ms = 600'000;       // idle timeout
  std::int64_t pause_first_ms = 1'000;  // backoff after the second consecutive failure
  std::int64_t pause_max_ms = 300'000;
  std::int64_t steady_ms = 60'000;  // a connection that lasted this long resets the backoff
};

class McpPool {
 public:
  McpPool(ports::Loop& loop, McpClient::MakeTransport make, McpLimits limits = {});
  ~McpPool();
  McpPool(const McpPool&) = delete;
  McpPool& operator=(const McpPool&) = delete;

  // The context of a listing or call.
  struct Place {
    SessionId session;
    std::vector<std::string> folders;  // the roots, the workspace first
    std::vector<McpServer> servers;    // the current configuration
  };

  // Calls `listing_to` with the tools of the servers that are ready within their wait_ms. The
  // others are missing; it is called again for each of them when it is ready or has failed. Closes
  // idle connections to servers that were removed or reconfigured.
  void list(Place place, std::move_only_function<void(ports::ToolListing)> listing_to);

  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void on_progress(std::string text) = 0;
    virtual void on_warning(std::string code, std::string message) = 0;
    virtual void on_question(ports::ToolQuestion question) = 0;
    virtual void on_failed(schema::Failure failure) = 0;
    // The server's result, and the output schema that the tool declares.
    virtual void on_result(schema::Json result, std::optional<schema::Json> output_schema) = 0;
  };
  // `tool`: the offered name. The call ends with exactly one of on_failed and on_result.
  void call(Place place, const ToolCallId& call, const std::string& tool, schema::Json args,
            std::shared_ptr<Listener> listener);
  void answer(const ToolCallId& call, const std::string& question, ports::QuestionAnswer answer,
              const std::optional<schema::Json>& content);
  void cancel(const ToolCallId& call);

  // Closes the idle connections to this URL. The others end when the server refuses them.
  void close_idle(const std::string& url);
  // Closes every connection gracefully, then calls `closed`. No connection is opened afterwards.
  void close(std::move_only_function<void()> closed);

 private:
  using Key = std::pair<SessionId, std::string>;  // session and server name
  struct Connection {
    std::unique_ptr<McpClient> client;  // null: not connected
    std::int64_t opened_at = 0;
    std::int64_t used_at = 0;
    std::int64_t ends = 0;  // consecutive failures
    std::int64_t not_before = 0;
    Error why;  // why it ended
    std::optional<ports::Loop::TimerId> idle;
  };
  struct Call;
  struct Listing;

  using Reached = std::move_only_function<void(Result<McpClient*>)>;
  enum class Again { yes, no };

  // Calls `reached` with a connected client whose tools are listed, or with an error.
  void reach(const Key& key, const McpServer& server, const std::vector<std::string>& folders,
             Again again, Reached reached);
  Result<McpClient*> connect(const Key& key, const McpServer& server,
                             const std::vector<std::string>& folders);
  Result<void> make_room();
  void ended(const Key& key, const Error& why);
  void let_go(Connection& connection);
  void use(const Key& key);
  void close_when_idle(const Key& key);
  void close_unwanted(const Place& place);
  void begin(const std::shared_ptr<Call>& call);
  void send(Call& call, McpClient& client);
  void heard(const std::shared_ptr<Listing>& listing, const std::string& server);
  void waited(const std::shared_ptr<Listing>& listing, const std::string& server);
  void tell(Listing& listing);

  ports::Loop& loop_;
  McpClient::MakeTransport make_;
  const McpLimits limits_;
  std::map<Key, Connection> connections_;
  std::list<std::unique_ptr<McpClient>> closing_;
  std::map<ToolCallId, std::shared_ptr<Call>> calls_;
  std::set<ports::Loop::TimerId> waits_;  // of listings in progress
  std::move_only_function<void()> closed_;
  bool closed_for_good_ = false;
};

}  // namespace agentrt::adapters
