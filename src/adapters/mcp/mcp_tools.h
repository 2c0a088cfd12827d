// adapters/mcp/mcp_tools.h: the tools of configured MCP servers, offered as mcp__SERVER__TOOL.
//
// The server configuration is read again for every listing and every call, on a worker. Secrets in
// it do not leave this class. Connections run on their own thread, which the first use of a server
// starts. Results are stored as outputs on a worker.
//
// The class also implements ports::McpAccess (mcp_access.cc): lists the servers and logs in to
// them.
//
// Threads: the functions of ports::Tools on the core, those of ports::McpAccess on any thread;
// stop() after the core has stopped.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "adapters/http/http_streams.h"
#include "adapters/mcp/io_loop.h"
#include "adapters/mcp/login/logins.h"
#include "adapters/mcp/pool.h"
#include "adapters/mcp/server.h"
#include "adapters/mcp/stdio_transport.h"
#include "ports/mcp_access.h"
#include "ports/outputs.h"
#include "ports/tools.h"

namespace agentrt::adapters {

class McpTools final : public ports::Tools, public ports::McpAccess {
 public:
  struct Parts {
    ports::Loop& core;
    ports::Worker& worker;
    ports::OutputKeeper& keeper;
    // The servers configured for a session in `cwd`. Called on the worker; may read the disk.
    std::function<Result<std::vector<McpServer>>(const std::string& cwd)> servers;
    // The same with those that are disabled. Empty: as `servers`.
    std::function<Result<std::vector<McpServer>>(const std::string& cwd)> listed = {};
    // The configuration of a server that an editor lends, for a session in `cwd`.
    std::function<McpServer(const std::string& cwd, const ports::LentMcpServer&)> lent = {};
    std::string cwd = {};     // of queries that name no folder
    std::string logins = {};  // the folder of stored logins; empty: there are none
    std::optional<std::string> client_metadata_url = {};
    std::function<void(const std::string& value)> secret = {};  // see McpLogins
    std::function<std::string(std::string)> redact = {};
    McpLimits limits = {};
    StdioLimits stdio = {};
  };

  explicit McpTools(Parts parts) : parts_(std::move(parts)) {}
  ~McpTools() override { stop(); }

  // Closes every connection gracefully, within a bounded time, and ends the thread.
  void stop();

  void list(const SessionId& session, const std::string& cwd,
            const std::vector<std::string>& additional_roots,
            std::move_only_function<void(ports::ToolListing)> listing_to) override;
  // Only the server knows which calls it refuses.
  std::optional<schema::Failure> objection(const ports::ToolRequest&, ports::Sight) override {
    return {};
  }
  void start(ports::ToolRequest request, std::shared_ptr<ports::ToolListener> listener) override;
  void release(const ToolCallId&) override {}  // MCP calls announce no file changes
  void answer(const ToolCallId& call, const std::string& question, ports::QuestionAnswer answer,
              std::optional<schema::Json> content) override;
  void cancel(const ToolCallId& call) override;

  void list(ports::McpQuery query, To<std::vector<ports::McpServerState>> done) override;
  void begin_login(ports::NewMcpLogin login, To<ports::McpLogin> done) override;
  void finish_login(std::string login, std::string callback_url, To<ports::McpLogin> done) override;
  void log_out(std::string server, std::optional<std::string> cwd,
               To<ports::McpLogout> done) override;
  void lend(SessionId session, std::vector<ports::LentMcpServer> servers,
            To<std::string> done) override;
  // Logins that wait for a browser.
  std::size_t unfinished_logins() const { return unfinished_.load(std::memory_order_relaxed); }

 private:
  class Bridge;
  using Servers = Result<std::vector<McpServer>>;
  using ReadServers = std::function<Servers(const std::string& cwd)>;

  bool look_up(ReadServers read, const std::string& cwd,
               std::move_only_function<void(Servers)> then);
  // The servers of the configuration, and those that an editor lent to the session.
  ReadServers servers_of(const SessionId& session);
  void open();
  McpLogins* logins();
  // mcp_access.cc; on the thread of `io_`, except for_servers().
  struct Listing;
  void for_servers(const std::optional<std::string>& cwd,
                   std::move_only_function<void(Servers)> then);
  Result<McpServer> find_server(const std::vector<McpServer>& servers, const std::string& named);
  Result<McpServer> find_login_server(const Servers& servers, const std::string& named);
  ports::McpServerState state_of(const McpServer& server);
  void check(const McpServer& server, const std::string& cwd,
             std::move_only_function<void(Result<std::size_t>)> done);
  void probe(const McpServer& server, ports::NewMcpLogin login, To<ports::McpLogin> done);
  void challenged(const McpServer& server, ports::NewMcpLogin login, const Challenged& by,
                  To<ports::McpLogin> done);
  void logged_in(const McpServer& server, To<ports::McpLogin> done);
  std::unique_ptr<Transport> transport_to(const McpServer& server, TransportListener& listener);
  void call(ports::ToolRequest request, Servers servers);
  // On the core: calls the listener of the call, unless it was cancelled.
  void tell(const ToolCallId& call, std::move_only_function<void(ports::ToolListener&)> what);
  void end(const ToolCallId& call, ports::ToolEnd end);

  Parts parts_;
  std::map<ToolCallId, std::shared_ptr<ports::ToolListener>> calls_;  // on the core
  struct Lent {
    std::vector<ports::LentMcpServer> servers;
    Timestamp used_at;
  };
  std::map<SessionId, Lent> lent_;        // on the core
  std::unique_ptr<HttpStreams> streams_;  // on the thread of `io_`
  std::unique_ptr<McpLogins> logins_;     // on the thread of `io_`
  std::unique_ptr<McpPool> pool_;         // on the thread of `io_`
  std::atomic<std::size_t> unfinished_{0};
  std::unique_ptr<IoLoop> io_;  // the last member: its thread uses the others
};

}  // namespace agentrt::adapters
