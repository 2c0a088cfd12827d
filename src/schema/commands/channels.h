// schema/commands/channels.h: commands for channels: connect a peer to a session, resume after a
// lost connection, acknowledge events, and the peer's messages and tasks.
//
// Only the token that created a channel and tokens with scope admin may name it. connect_channel
// and reconnect_channel take no idempotency key, because their replies contain a secret.
#pragma once

#include "schema/command.h"
#include "schema/snapshots.h"

namespace agentrt::schema {

// What the replies to connect_channel and reconnect_channel have in common.
struct ChannelStart {
  ChannelId channel_id;
  SessionId session_id;
  Transport transport = Transport::custom;
  std::vector<std::string> capabilities;
  std::optional<std::string> resume_token;  // returned only here
  GenerationId generation;
  Sequence sequence = 0;
  Sequence after_sequence = 0;        // delivery starts after it
  std::optional<ReplayRange> replay;  // absent: no stored event is delivered
  std::vector<ActionId> pending_actions;
  Sequence acknowledged_sequence = 0;
  std::optional<std::uint64_t> ack_window;
  std::optional<std::int64_t> heartbeat_ms;
};
BOOST_DESCRIBE_STRUCT(ChannelStart, (),
                      (channel_id, session_id, transport, capabilities, resume_token, generation,
                       sequence, after_sequence, replay, pending_actions, acknowledged_sequence,
                       ack_window, heartbeat_ms))

// `snapshot`: the reply of get_session after the command.
struct ConnectChannelReply : ChannelStart {
  SessionSnapshot snapshot;
};
BOOST_DESCRIBE_STRUCT(ConnectChannelReply, (ChannelStart), (snapshot))

struct PeerTaskState {
  TaskId task_id;
  std::string remote_task_id;
  std::optional<std::string> remote_status;
  std::optional<std::string> recovery;
};
BOOST_DESCRIBE_STRUCT(PeerTaskState, (), (task_id, remote_task_id, remote_status, recovery))

struct ReconnectChannelReply : ChannelStart {
  std::optional<ReplayGap> gap;
  std::vector<PeerTaskState> peer_tasks;  // the newest; peerTaskCount counts all
  std::uint64_t peer_task_count = 0;
  SessionSnapshot snapshot;
};
BOOST_DESCRIBE_STRUCT(ReconnectChannelReply, (ChannelStart),
                      (gap, peer_tasks, peer_task_count, snapshot))

// The reply of the decision, from which the kernel makes one of the above after the commit.
struct StartedChannel : ChannelStart {
  std::optional<ReplayGap> gap;
  bool resumed = false;
  bool from_snapshot = false;  // delivery starts after the snapshot, which is not read yet
};
BOOST_DESCRIBE_STRUCT(StartedChannel, (ChannelStart), (gap, resumed, from_snapshot))

struct ConnectChannel {
  static constexpr CommandTraits kTraits{"connect_channel", TokenScope::read,
                                         CommandEffect::mutates};
  using Reply = ConnectChannelReply;
  SessionId session_id;
  std::optional<ChannelId> channel_id;
  std::optional<PeerRole> peer_role;
  std::optional<std::vector<ChannelCapability>> capabilities;
  std::optional<std::string> native_protocol;
  std::optional<Json> native_ids;
  std::optional<std::string> agent_card_ref;
  std::optional<Transport> transport;  // that the client expects the runtime to observe
  std::optional<Sequence> after_sequence;
  std::optional<std::uint64_t> ack_window;  // events that may be delivered without acknowledgement
  std::optional<std::int64_t> heartbeat_ms;

  bool operator==(const ConnectChannel&) const = default;
};
BOOST_DESCRIBE_STRUCT(ConnectChannel, (),
                      (session_id, channel_id, peer_role, capabilities, native_protocol, native_ids,
                       agent_card_ref, transport, after_sequence, ack_window, heartbeat_ms))

struct ReconnectChannel {
  static constexpr CommandTraits kTraits{"reconnect_channel", TokenScope::read,
                                         CommandEffect::mutates};
  using Reply = ReconnectChannelReply;
  ChannelId channel_id;
  std::string resume_token;
  std::optional<Sequence> after_sequence;
  std::optional<GenerationId> generation;  // in which afterSequence counts
  std::optional<Replay> replay;
  std::optional<Transport> transport;

  bool operator==(const ReconnectChannel&) const = default;
};
BOOST_DESCRIBE_STRUCT(ReconnectChannel, (),
                      (channel_id, resume_token, after_sequence, generation, replay, transport))

struct AckEventsReply {
  ChannelId channel_id;
  Sequence acknowledged_sequence = 0;
  Sequence head_sequence = 0;
};
BOOST_DESCRIBE_STRUCT(AckEventsReply, (), (channel_id, acknowledged_sequence, head_sequence))

// Writes no fact: the acknowledgement is stored beside the log.
struct AckEvents {
  static constexpr CommandTraits kTraits{"ack_events", TokenScope::read, CommandEffect::mutates};
  using Reply = AckEventsReply;
  ChannelId channel_id;
  Sequence sequence = 0;
  std::optional<GenerationId> generation;

  bool operator==(const AckEvents&) const = default;
};
BOOST_DESCRIBE_STRUCT(AckEvents, (), (channel_id, sequence, generation))

struct DisconnectChannelReply {
  ChannelId channel_id;
  ChannelStatus status = ChannelStatus::closed;
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(DisconnectChannelReply, (), (channel_id, status, sequence))

// Final: a closed channel cannot be resumed.
struct DisconnectChannel {
  static constexpr CommandTraits kTraits{"disconnect_channel", TokenScope::read,
                                         CommandEffect::mutates};
  using Reply = DisconnectChannelReply;
  ChannelId channel_id;
  std::optional<std::string> reason;
  std::optional<std::string> idempotency_key;

  bool operator==(const DisconnectChannel&) const = default;
};
BOOST_DESCRIBE_STRUCT(DisconnectChannel, (), (channel_id, reason, idempotency_key))

struct ChannelMessageReply {
  ChannelId channel_id;
  std::optional<std::string> message_ref;
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(ChannelMessageReply, (), (channel_id, message_ref, sequence))

struct SendChannelMessage {
  static constexpr CommandTraits kTraits{"send_channel_message", TokenScope::submit,
                                         CommandEffect::mutates};
  using Reply = ChannelMessageReply;
  ChannelId channel_id;
  std::string kind;
  std::optional<std::string> text;
  std::optional<Json> payload;
  std::optional<MessageDirection> direction;  // `out` is for adapters; default: in
  std::optional<std::string> idempotency_key;

  bool operator==(const SendChannelMessage&) const = default;
};
BOOST_DESCRIBE_STRUCT(SendChannelMessage, (),
                      (channel_id, kind, text, payload, direction, idempotency_key))

struct PeerTaskReply {
  ChannelId channel_id;
  TaskId task_id;
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(PeerTaskReply, (), (channel_id, task_id, sequence))

struct LinkPeerTask {
  static constexpr CommandTraits kTraits{"link_peer_task", TokenScope::submit,
                                         CommandEffect::mutates};
  using Reply = PeerTaskReply;
  ChannelId channel_id;
  TaskId task_id;
  std::string native_protocol;
  std::string remote_task_id;
  std::optional<std::string> remote_context_id;
  std::optional<std::string> agent_card_ref;
  std::optional<std::string> idempotency_key;

  bool operator==(const LinkPeerTask&) const = default;
};
BOOST_DESCRIBE_STRUCT(LinkPeerTask, (),
                      (channel_id, task_id, native_protocol, remote_task_id, remote_context_id,
                       agent_card_ref, idempotency_key))

struct UpdatePeerTask {
  static constexpr CommandTraits kTraits{"update_peer_task", TokenScope::submit,
                                         CommandEffect::mutates};
  using Reply = PeerTaskReply;
  ChannelId channel_id;
  TaskId task_id;
  std::string remote_status;
  std::optional<PeerRecovery> recovery;
  std::optional<std::vector<std::string>> remote_artifact_refs;
  std::optional<Failure> error;
  std::optional<std::string> idempotency_key;

  bool operator==(const UpdatePeerTask&) const = default;
};
BOOST_DESCRIBE_STRUCT(UpdatePeerTask, (),
                      (channel_id, task_id, remote_status, recovery, remote_artifact_refs, error,
                       idempotency_key))

struct ListChannels {
  static constexpr CommandTraits kTraits{"list_channels", TokenScope::read, CommandEffect::reads};
  std::optional<SessionId> session_id;
  std::optional<bool> include_closed;
  std::optional<std::uint64_t> limit;
  std::optional<std::string> cursor;

  bool operator==(const ListChannels&) const = default;
};
BOOST_DESCRIBE_STRUCT(ListChannels, (), (session_id, include_closed, limit, cursor))

}  // namespace agentrt::schema
