// adapters/mcp/mcp_tools.h: the tools of configured MCP servers, offered as mcp__SERVER__TOOL.
//
// The server configuration is read again for every listing and every call, on a worker. Secrets in
// it do not leave this class. Connections run on their own thread, which the first use of a server
// starts. Results are stored as outputs on a worker.
//
// Threads: the functions of the port on the core; stop() after the core has stopped.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "adapters/http/http_streams.h"
#include "adapters/mcp/io_loop.h"
#include "adapters/mcp/pool.h"
#include "adapters/mcp/server.h"
#include "adapters/mcp/stdio_transport.h"
#include "ports/outputs.h"
#include "ports/tools.h"

namespace agentrt::adapters {

class McpTools final : public ports::Tools {
 public:
  struct Parts {
    ports::Loop& core;
    ports::Worker& worker;
    ports::OutputKeeper& keeper;
    // The servers configured for a session in `cwd`. Called on the worker; may read the disk.
    std::function<Result<std::vector<McpServer>>(const std::string& cwd)> servers;
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

 private:
  class Bridge;
  using Servers = Result<std::vector<McpServer>>;

  bool look_up(const std::string& cwd, std::move_only_function<void(Servers)> then);
  void open();
  std::unique_ptr<Transport> transport_to(const McpServer& server, TransportListener& listener);
  void call(ports::ToolRequest request, Servers servers);
  // On the core: calls the listener of the call, unless it was cancelled.
  void tell(const ToolCallId& call, std::move_only_function<void(ports::ToolListener&)> what);
  void end(const ToolCallId& call, ports::ToolEnd end);

  Parts parts_;
  std::map<ToolCallId, std::shared_ptr<ports::ToolListener>> calls_;  // on the core
  std::unique_ptr<HttpStreams> streams_;                              // on the thread of `io_`
  std::unique_ptr<McpPool> pool_;                                     // on the thread of `io_`
  std::unique_ptr<IoLoop> io_;  // the last member: its thread uses the others
};

}  // namespace agentrt::adapters
