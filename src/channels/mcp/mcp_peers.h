// channels/mcp/mcp_peers.h: the clients of the MCP server: their sessions (Mcp-Session-Id), and the
// requests that the server has sent to them.
//
// A session is only in memory. After a restart its id is unknown, and the client initializes again.
// Network thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/result.h"
#include "channels/limits.h"
#include "schema/json.h"

namespace agentrt::channels {

inline constexpr std::size_t kMcpPeersMax = 1'024;  // beyond it, the longest unused one is dropped
inline constexpr Duration kMcpPeerIdle{std::chrono::hours{24}};

class McpPeer {
 public:
  McpPeer(std::string id, std::string principal, bool takes_forms)
      : id_(std::move(id)), principal_(std::move(principal)), takes_forms_(takes_forms) {}

  const std::string& id() const { return id_; }
  const std::string& principal() const { return principal_; }
  // Whether the client declared that it shows forms to a person (elicitation).
  bool takes_forms() const { return takes_forms_; }

  // The result of a request to the client, or its error as `unavailable`.
  using Answered = std::move_only_function<void(Result<schema::Json>)>;
  // The id for a new request.
  std::uint64_t expect(Answered answered);
  void forget(std::uint64_t request) { expected_.erase(request); }
  // Passes on a response. Unknown ids are ignored.
  void take(std::uint64_t request, Result<schema::Json> result);

  // Work on a request of the client, by its JSON id, that the client may cancel.
  void began(const std::string& request, std::function<void()> cancel);
  void ended(const std::string& request) { running_.erase(request); }
  void cancel(const std::string& request);

  Instant used = Clock::now();

 private:
  const std::string id_;
  const std::string principal_;
  const bool takes_forms_;
  std::map<std::uint64_t, Answered> expected_;
  std::uint64_t last_ = 0;
  std::unordered_map<std::string, std::function<void()>> running_;
};
using McpPeerPtr = std::shared_ptr<McpPeer>;

class McpPeers {
 public:
  McpPeerPtr begin(const std::string& principal, bool takes_forms);
  // The session of this token; null: unknown.
  McpPeerPtr find(const std::string& id, const std::string& principal);
  void end(const std::string& id) { peers_.erase(id); }

 private:
  void make_room();

  std::unordered_map<std::string, McpPeerPtr> peers_;
};

}  // namespace agentrt::channels
