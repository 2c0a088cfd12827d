// channels/protocols/protocols.h: what the adapters of other protocols keep beyond one request. One
// for the whole server. Network thread only.
#pragma once

#include <memory>
#include <unordered_map>

#include "channels/agui/agui_sessions.h"
#include "channels/mcp/mcp_peers.h"

namespace agentrt::channels {

// Requests of other protocols that wait at once, over all adapters; further ones are overloaded.
inline constexpr std::size_t kWaitingRequestsMax = 4'096;

// Keeps what works on a request alive until it is done.
class WaitingRequests {
 public:
  bool full() const { return all_.size() >= kWaitingRequestsMax; }
  void add(const std::shared_ptr<void>& request) { all_.emplace(request.get(), request); }
  // May destroy the request.
  void remove(void* request) { const auto last = all_.extract(request); }
  void clear() { all_.clear(); }

 private:
  std::unordered_map<void*, std::shared_ptr<void>> all_;
};

struct Protocols {
  McpPeers mcp;
  AguiSessions agui;
  WaitingRequests waiting;
};

}  // namespace agentrt::channels
