// adapters/mcp/pool.h: the connections that are open, one for each session and server.
//
// A connection is made when a session first lists its tools or calls one, is shared by the turns of
// that session, and is closed when nobody has used it for a while. One that died is made anew the
// next time it is wanted, but not at once again and again: every end in a row doubles the time for
// which its server is called unavailable with the reason of that end.
//
// Thread rule: all of it on one loop, which its callbacks run on too.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/mcp/client.h"
#include "ports/tools.h"

namespace agentrt::adapters {

// Of the tools of all servers of a session: they stand in a fact of every turn.
inline constexpr std::size_t kMcpCatalogBytesMax = 256 * 1024;

struct McpLimits {
  std::size_t connections_max = 64;     // over all sessions
  std::int64_t idle_ms = 600'000;       // unused for this long: closed
  std::int64_t pause_first_ms = 1'000;  // after the second end in a row
  std::int64_t pause_max_ms = 300'000;
  std::int64_t steady_ms = 60'000;  // up for this long: its end is the first again
};

class McpPool {
 public:
  McpPool(ports::Loop& loop, McpClient::MakeTransport make, McpLimits limits = {});
  ~McpPool();
  McpPool(const McpPool&) = delete;
  McpPool& operator=(const McpPool&) = delete;

  // Who calls, and of what.
  struct Place {
    SessionId session;
    std::vector<std::string> folders;  // the roots, the workspace first
    std::vector<McpServer> servers;    // as they are configured now
  };

  // Answers once: with what came within each server's startup_timeout_ms. Connections to servers
  // that are configured no more, or otherwise, are closed.
  void list(Place place, std::move_only_function<void(ports::ToolListing)> listing_to);

  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void on_progress(std::string text) = 0;
    virtual void on_question(ports::ToolQuestion question) = 0;
    virtual void on_failed(schema::Failure failure) = 0;
    // The server's result, and the schema that the tool promised for it.
    virtual void on_result(schema::Json result, std::optional<schema::Json> output_schema) = 0;
  };
  // `tool` by the name that it is offered by. Exactly one of on_failed and on_result is the end.
  void call(Place place, const ToolCallId& call, const std::string& tool, schema::Json args,
            std::shared_ptr<Listener> listener);
  void answer(const ToolCallId& call, const std::string& question, ports::QuestionAnswer answer,
              const std::optional<schema::Json>& content);
  void cancel(const ToolCallId& call);

  // Closes every connection in order, then calls `closed`; nothing is connected any more.
  void close(std::move_only_function<void()> closed);

 private:
  using Key = std::pair<SessionId, std::string>;  // of a session, the name of a server
  struct Connection {
    std::unique_ptr<McpClient> client;  // null: none is open
    std::int64_t opened_at = 0;
    std::int64_t used_at = 0;
    std::int64_t ends = 0;  // in a row
    std::int64_t not_before = 0;
    std::string why;  // it ended
    std::optional<ports::Loop::TimerId> idle;
  };
  struct Call;
  struct Listing;

  using Reached = std::move_only_function<void(Result<McpClient*>)>;
  enum class Again { yes, no };

  // The client of a connection whose tools are listed.
  void reach(const Key& key, const McpServer& server, const std::vector<std::string>& folders,
             Again again, Reached reached);
  Result<McpClient*> connect(const Key& key, const McpServer& server,
                             const std::vector<std::string>& folders);
  Result<void> make_room();
  void ended(const Key& key, const std::string& why);
  void let_go(Connection& connection);
  void use(const Key& key);
  void close_when_idle(const Key& key);
  void close_unwanted(const Place& place);
  void begin(const std::shared_ptr<Call>& call);
  void send(Call& call, McpClient& client);
  void heard(Listing& listing);

  ports::Loop& loop_;
  McpClient::MakeTransport make_;
  const McpLimits limits_;
  std::map<Key, Connection> connections_;
  std::list<std::unique_ptr<McpClient>> closing_;
  std::map<ToolCallId, std::shared_ptr<Call>> calls_;
  std::move_only_function<void()> closed_;
  bool closed_for_good_ = false;
};

}  // namespace agentrt::adapters
