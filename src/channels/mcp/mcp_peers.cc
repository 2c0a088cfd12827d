#include "channels/mcp/mcp_peers.h"

#include <algorithm>

#include "base/digest.h"
#include "base/random_bytes.h"

namespace agentrt::channels {
namespace {

constexpr std::size_t kIdBytes = 16;

}  // namespace

std::uint64_t McpPeer::expect(Answered answered) {
  expected_.emplace(++last_, std::move(answered));
  return last_;
}

void McpPeer::take(std::uint64_t request, Result<schema::Json> result) {
  auto found = expected_.extract(request);
  if (found) found.mapped()(std::move(result));
}

void McpPeer::began(const std::string& request, std::function<void()> cancel) {
  running_[request] = std::move(cancel);
}

void McpPeer::cancel(const std::string& request) {
  const auto found = running_.extract(request);
  if (found) found.mapped()();
}

McpPeerPtr McpPeers::begin(const std::string& principal, bool takes_forms) {
  make_room();
  auto peer = std::make_shared<McpPeer>(hex(random_bytes(kIdBytes)), principal, takes_forms);
  peers_.emplace(peer->id(), peer);
  return peer;
}

McpPeerPtr McpPeers::find(const std::string& id, const std::string& principal) {
  const auto found = peers_.find(id);
  if (found == peers_.end() || found->second->principal() != principal) return nullptr;
  found->second->used = Clock::now();
  return found->second;
}

void McpPeers::make_room() {
  const Instant now = Clock::now();
  std::erase_if(peers_, [&](const auto& each) { return now - each.second->used > kMcpPeerIdle; });
  while (peers_.size() >= kMcpPeersMax) {
    const auto oldest =
        std::ranges::min_element(peers_, {}, [](const auto& each) { return each.second->used; });
    peers_.erase(oldest);
  }
}

}  // namespace agentrt::channels
