// state/channels.h: the channels of a session that are not closed. Part of the session read model
// (state/session.h).
//
// Closed channels have left the view; their index rows stay. What a peer has acknowledged is stored
// beside the log and is not part of the view.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/facts.h"

namespace agentrt::state {

struct Session;

struct Channel {
  ChannelId id;
  schema::Transport transport = schema::Transport::custom;
  schema::PeerRole peer_role = schema::PeerRole::client;
  std::optional<std::string> account_ref;
  std::optional<std::string> token_id;
  std::vector<std::string> capabilities;
  std::optional<std::string> native_protocol;
  std::optional<schema::Json> native_ids;
  std::optional<std::string> agent_card_ref;
  std::optional<std::string> resume_token_ref;
  std::optional<std::uint64_t> ack_window;
  std::optional<std::int64_t> heartbeat_ms;
  std::uint64_t resumes = 0;
  bool connected = false;
  BootId boot;         // the runtime that it was connected to last
  Sequence first = 0;  // of channel.connected
  Sequence since = 0;  // of the newest channel.connected or channel.resumed
  Timestamp connected_at;
  Timestamp last_seen_at;
  std::optional<Timestamp> disconnected_at;
  std::optional<Timestamp> expires_at;
  std::optional<std::string> reason;  // of the last disconnection
  Sequence acknowledged = 0;          // as the last disconnection recorded it
  std::vector<ActionId> pending;      // forwarded, not returned; in the order of the log

  bool has(schema::ChannelCapability capability) const;
  bool operator==(const Channel&) const = default;
};
BOOST_DESCRIBE_STRUCT(Channel, (),
                      (id, transport, peer_role, account_ref, token_id, capabilities,
                       native_protocol, native_ids, agent_card_ref, resume_token_ref, ack_window,
                       heartbeat_ms, resumes, connected, boot, first, since, connected_at,
                       last_seen_at, disconnected_at, expires_at, reason, acknowledged, pending))

template <class P>
concept ChannelFact = std::derived_from<typename P::Scope, schema::ChannelScope>;

// Folds of the facts of channels.
void fold_channel(Session& session, const schema::Fact& fact, const schema::ChannelConnected& p);
void fold_channel(Session& session, const schema::Fact& fact, const schema::ChannelDisconnected& p);
void fold_channel(Session& session, const schema::Fact& fact, const schema::ChannelResumed& p);
void fold_channel(Session& session, const schema::Fact& fact, const schema::ChannelMessage& p);
void fold_channel(Session& session, const schema::Fact& fact,
                  const schema::ChannelPermissionForwarded& p);
void fold_channel(Session& session, const schema::Fact& fact,
                  const schema::ChannelPermissionReturned& p);
// Peer tasks are index rows.
inline void fold_channel(Session&, const schema::Fact&, const schema::ChannelPeerTaskLinked&) {}
inline void fold_channel(Session&, const schema::Fact&, const schema::ChannelPeerTaskUpdated&) {}

// nullptr: the session has no such channel, or it is closed.
const Channel* find_channel(const Session& session, const ChannelId& channel);

// Whether this disconnection is the last: the channel cannot be resumed.
bool closes(const Channel& channel, std::string_view reason);

// Without peer tasks and what was acknowledged since it was connected, which the view does not
// know.
schema::ChannelSnapshot channel_snapshot(const SessionId& session, const Channel& channel);

}  // namespace agentrt::state
