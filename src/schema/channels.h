// schema/channels.h: values of channels that facts, commands, index rows and the store share.
//
// A channel attaches one peer to one session. It outlives its connections.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "schema/codec.h"
#include "schema/values.h"

namespace agentrt::schema {

BOOST_DEFINE_ENUM_CLASS(Transport, websocket, sse, json_rpc, grpc, http_json, stdio, in_process,
                        custom)
BOOST_DEFINE_ENUM_CLASS(PeerRole, client, host, worker, remote_runtime, peer_agent, tool_server)
BOOST_DEFINE_ENUM_CLASS(ChannelCapability, streaming, resume, permissions, files, artifacts,
                        task_delegation)
// stale: connected when an earlier runtime ended; the session was not loaded since.
BOOST_DEFINE_ENUM_CLASS(ChannelStatus, connected, disconnected, closed, stale)
// Why a channel was disconnected. closed, token_revoked and expired are final.
BOOST_DEFINE_ENUM_CLASS(ChannelEnd, closed, connection_lost, heartbeat_timeout, overflow, replaced,
                        token_revoked, runtime_stopped, runtime_restart, expired)
// The state of a peer's task, where the runtime cannot see it. None of them is a failure.
BOOST_DEFINE_ENUM_CLASS(PeerRecovery, running, idle, waiting, unreconciled, missing, unreachable)
BOOST_DEFINE_ENUM_CLASS(MessageDirection, in, out)
// Whether a reconnect gets the stored events again.
BOOST_DEFINE_ENUM_CLASS(Replay, all, none)

// Of ReplayGap::reason.
inline constexpr std::string_view kOtherGeneration = "other_generation";
inline constexpr std::string_view kFutureSequence = "future_sequence";
inline constexpr std::string_view kDeletedRange = "deleted";
// Of channel.permission_returned.
inline constexpr std::string_view kDecidedLocally = "local";
inline constexpr std::string_view kDecidedRemotely = "remote";

inline constexpr std::size_t kChannelMessageBytesMax = 64 * 1024;
inline constexpr std::size_t kChannelPreviewBytes = 1'024;  // of a message
inline constexpr std::size_t kNativeIdsBytesMax = 4 * 1024;
inline constexpr std::uint64_t kAckWindowMax = 100'000;
inline constexpr std::int64_t kHeartbeatMinMs = 1'000;
inline constexpr std::int64_t kHeartbeatMaxMs = 600'000;
inline constexpr int kHeartbeatsMissedMax = 3;

constexpr bool is_final(ChannelEnd end) {
  return end == ChannelEnd::closed || end == ChannelEnd::token_revoked ||
         end == ChannelEnd::expired;
}

// Sequences that a client cannot get: both ends are included.
struct ReplayGap {
  Sequence from_sequence = 0;
  Sequence to_sequence = 0;
  std::string reason;  // other_generation, future_sequence, deleted

  bool operator==(const ReplayGap&) const = default;
};
BOOST_DESCRIBE_STRUCT(ReplayGap, (), (from_sequence, to_sequence, reason))

// Stored events that a client gets before live ones: both ends are included.
struct ReplayRange {
  Sequence from_sequence = 0;
  Sequence to_sequence = 0;

  bool operator==(const ReplayRange&) const = default;
};
BOOST_DESCRIBE_STRUCT(ReplayRange, (), (from_sequence, to_sequence))

// The sender of a command, as the transport and its token show.
struct Sender {
  std::string account;  // of the token; its id if it has none
  Transport transport = Transport::in_process;
  bool submits = false;  // its token has this scope
  bool approves = false;
  bool administers = false;
  bool adapter = false;  // part of the runtime that speaks another protocol

  bool operator==(const Sender&) const = default;
};

// What is stored of a channel beside the log: no fact of the log says it.
struct ChannelCursor {
  ChannelId channel;
  SessionId session;
  std::string token;        // id of the token that created the channel
  GenerationId generation;  // in which `acknowledged` counts
  Sequence acknowledged = 0;
  // SHA-256 of the resume token that was issued last, and of the one that was used last; empty:
  // none.
  std::string resume_hash;
  std::string resume_hash_used;
  Timestamp seen_at;  // when the row was written last

  bool operator==(const ChannelCursor&) const = default;
};

// A task of the session that is linked to a task of a peer. The record of an index row.
struct PeerTaskSnapshot {
  ChannelId channel_id;
  TaskId task_id;
  std::optional<std::string> native_protocol;
  std::string remote_task_id;
  std::optional<std::string> remote_context_id;
  std::optional<std::string> agent_card_ref;
  std::optional<std::string> remote_status;
  std::optional<std::string> recovery;
  std::optional<std::vector<std::string>> remote_artifact_refs;
  std::optional<Failure> error;
  Sequence first_sequence = 0;  // of its channel.peer_task.linked
  Timestamp updated_at;

  bool operator==(const PeerTaskSnapshot&) const = default;
};
BOOST_DESCRIBE_STRUCT(PeerTaskSnapshot, (),
                      (channel_id, task_id, native_protocol, remote_task_id, remote_context_id,
                       agent_card_ref, remote_status, recovery, remote_artifact_refs, error,
                       first_sequence, updated_at))

// The read model of a channel.
struct ChannelSnapshot {
  ChannelId channel_id;
  SessionId session_id;
  ChannelStatus status = ChannelStatus::connected;
  std::optional<std::string> reason;  // why it is not connected
  Transport transport = Transport::custom;
  PeerRole peer_role = PeerRole::client;
  std::optional<std::string> account_ref;
  std::optional<std::string> token_id;
  std::vector<std::string> capabilities;
  std::optional<std::string> native_protocol;
  std::optional<Json> native_ids;
  std::optional<std::string> agent_card_ref;
  std::optional<std::string> resume_token_ref;
  std::optional<std::uint64_t> ack_window;
  std::optional<std::int64_t> heartbeat_ms;
  Timestamp connected_at;
  Timestamp last_seen_at;
  std::optional<Timestamp> disconnected_at;
  std::optional<Timestamp> expires_at;  // of one that can be resumed
  Sequence acknowledged_sequence = 0;
  std::vector<ActionId> pending_actions;  // that were forwarded and are open
  std::vector<PeerTaskSnapshot> peer_tasks;
  std::uint64_t peer_task_count = 0;  // including those that are not listed
  BootId boot_id;                     // the runtime that it was connected to last

  bool operator==(const ChannelSnapshot&) const = default;
};
BOOST_DESCRIBE_STRUCT(ChannelSnapshot, (),
                      (channel_id, session_id, status, reason, transport, peer_role, account_ref,
                       token_id, capabilities, native_protocol, native_ids, agent_card_ref,
                       resume_token_ref, ack_window, heartbeat_ms, connected_at, last_seen_at,
                       disconnected_at, expires_at, acknowledged_sequence, pending_actions,
                       peer_tasks, peer_task_count, boot_id))

// The channels of a session that are not closed.
struct ChannelSummary {
  std::vector<ChannelSnapshot> channels;

  bool operator==(const ChannelSummary&) const = default;
};
BOOST_DESCRIBE_STRUCT(ChannelSummary, (), (channels))

}  // namespace agentrt::schema
