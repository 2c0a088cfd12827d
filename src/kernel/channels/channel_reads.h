// kernel/channels/channel_reads.h: reads about channels: their records with what is stored beside
// the log, and their peers' tasks. All of them block and run on a worker.
#pragma once

#include <string>
#include <vector>

#include "kernel/limits.h"
#include "ports/authorized.h"
#include "schema/commands.h"
#include "store/store.h"

namespace agentrt::kernel {

// The newest peer tasks of a channel, and the number of all.
struct PeerTasks {
  std::vector<schema::PeerTaskSnapshot> newest;
  std::uint64_t count = 0;
};
Result<PeerTasks> peer_tasks_of(store::Store& store, const SessionId& session,
                                const ChannelId& channel, const Limits& limits);

// Adds what the view and the rows of channels do not have: acknowledgements and peer tasks.
Result<void> complete_channels(store::Store& store, std::vector<schema::ChannelSnapshot>& channels,
                               const Limits& limits);

// The JSON of the reply. A channel that an earlier boot left connected is stale. Errors:
// invalid_params: a wrong limit or cursor; gone: a cursor from before the store was restored.
Result<std::string> list_channels(store::Store& store, const schema::ListChannels& query,
                                  const BootId& boot, const Limits& limits);

// The stored row of a channel, and the session that owns it. Only the token that created a channel
// and tokens with scope admin find it. Errors: not_found.
struct FoundChannel {
  SessionId session;
  schema::ChannelSnapshot record;
};
Result<FoundChannel> find_channel(store::Store& store, const ChannelId& channel,
                                  const ports::Caller& caller);

}  // namespace agentrt::kernel
