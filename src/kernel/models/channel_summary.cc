// kernel/models/channel_summary.cc: the peers that are attached to a session.
#include "kernel/channels/channel_reads.h"
#include "kernel/models/models.h"
#include "state/channels.h"

namespace agentrt::kernel::models {

using namespace schema;

namespace {

// Where a peer continues when it reconnects.
struct ResumeCursor {
  ChannelId channel_id;
  std::optional<std::string> resume_token_ref;
  Sequence acknowledged_sequence = 0;
};
BOOST_DESCRIBE_STRUCT(ResumeCursor, (), (channel_id, resume_token_ref, acknowledged_sequence))

// An open action that was forwarded to a peer.
struct Forwarded {
  ChannelId channel_id;
  ActionId action_id;
};
BOOST_DESCRIBE_STRUCT(Forwarded, (), (channel_id, action_id))

struct PermissionBridge {
  std::vector<Forwarded> pending;
};
BOOST_DESCRIBE_STRUCT(PermissionBridge, (), (pending))

struct Model {
  SessionId session_id;
  Json peers;
  Json cursors;
  Json permission_bridge;
};
BOOST_DESCRIBE_STRUCT(Model, (), (session_id, peers, cursors, permission_bridge))

}  // namespace

Result<std::string> channel_summary(const Source& source) {
  std::vector<ChannelSnapshot> channels;
  for (const auto& [_, channel] : source.view.channels)
    channels.push_back(state::channel_snapshot(source.view.id, channel));
  if (channels.empty()) {
    const auto none = [] {
      return absent(Honesty::not_applicable, "no channel is open: no peer is attached");
    };
    return finished(Model{source.view.id, none(), none(), none()}, source);
  }
  TRY(complete_channels(source.store, channels, source.limits));
  std::vector<ResumeCursor> cursors;
  PermissionBridge bridge;
  for (const ChannelSnapshot& channel : channels) {
    cursors.push_back(
        {channel.channel_id, channel.resume_token_ref, channel.acknowledged_sequence});
    for (const ActionId& action : channel.pending_actions)
      bridge.pending.push_back({channel.channel_id, action});
  }
  return finished(Model{source.view.id, part(channels), part(cursors), part(bridge)}, source);
}

}  // namespace agentrt::kernel::models
