// schema/facts/channel.h: channels: the peers that a session is connected to.
//
// Words that other runtimes may choose differently are texts; the comments list those of this
// runtime.
#pragma once

#include "schema/channels.h"
#include "schema/scope.h"

namespace agentrt::schema {

struct ChannelConnected {
  static constexpr std::string_view kType = "channel.connected";
  using Scope = ChannelScope;
  Transport transport = Transport::custom;
  PeerRole peer_role = PeerRole::client;
  std::optional<std::string> account_ref;
  std::optional<std::string> token_id;
  std::optional<Json> capabilities;  // a list of ChannelCapability
  std::optional<std::string> native_protocol;
  std::optional<Json> native_ids;
  std::optional<std::string> agent_card_ref;
  std::optional<std::string> resume_token_ref;
  std::optional<std::uint64_t> ack_window;
  std::optional<std::int64_t> heartbeat_ms;
  BootId boot_id;

  bool operator==(const ChannelConnected&) const = default;
};
BOOST_DESCRIBE_STRUCT(ChannelConnected, (),
                      (transport, peer_role, account_ref, token_id, capabilities, native_protocol,
                       native_ids, agent_card_ref, resume_token_ref, ack_window, heartbeat_ms,
                       boot_id))

struct ChannelDisconnected {
  static constexpr std::string_view kType = "channel.disconnected";
  using Scope = ChannelScope;
  std::optional<std::string> reason;  // a ChannelEnd
  std::optional<std::string> detail;  // in the words of who closed it
  std::optional<Sequence> acknowledged_sequence;
  std::optional<Timestamp> last_seen_at;
  std::optional<Timestamp> expires_at;  // absent: it cannot be resumed

  bool operator==(const ChannelDisconnected&) const = default;
};
BOOST_DESCRIBE_STRUCT(ChannelDisconnected, (),
                      (reason, detail, acknowledged_sequence, last_seen_at, expires_at))

struct ChannelResumed {
  static constexpr std::string_view kType = "channel.resumed";
  using Scope = ChannelScope;
  std::optional<Transport> transport;
  std::optional<Sequence> after_sequence;  // delivery starts after it
  std::optional<Sequence> replayed_to;     // the last stored event that is delivered again
  std::optional<ReplayGap> gap;
  std::optional<std::string> resume_token_ref;
  BootId boot_id;

  bool operator==(const ChannelResumed&) const = default;
};
BOOST_DESCRIBE_STRUCT(ChannelResumed, (),
                      (transport, after_sequence, replayed_to, gap, resume_token_ref, boot_id))

// It is not part of a turn, and no model sees it.
struct ChannelMessage {
  static constexpr std::string_view kType = "channel.message";
  using Scope = ChannelScope;
  std::optional<std::string> direction;  // in, out
  std::optional<std::string> kind;
  std::optional<std::string> preview;
  std::optional<std::string> message_ref;  // log:N, this fact, if it has more than the preview
  std::optional<std::string> text;
  std::optional<Json> payload;

  bool operator==(const ChannelMessage&) const = default;
};
BOOST_DESCRIBE_STRUCT(ChannelMessage, (), (direction, kind, preview, message_ref, text, payload))

// What a forwarded permission is about.
struct PermissionSubject {
  std::string kind;  // tool, process, action, remote_task
  std::optional<std::string> action_type;
  std::optional<std::string> tool_name;
  ToolCallId tool_call_id;
  std::optional<std::string> remote_task_id;

  bool operator==(const PermissionSubject&) const = default;
};
BOOST_DESCRIBE_STRUCT(PermissionSubject, (),
                      (kind, action_type, tool_name, tool_call_id, remote_task_id))

struct ChannelPermissionForwarded {
  static constexpr std::string_view kType = "channel.permission_forwarded";
  using Scope = ChannelActionScope;
  std::optional<std::string> peer;       // whose decision is requested, or that requests one
  std::optional<std::string> direction;  // out: to the peer; in: from it
  std::optional<Json> subject;           // a PermissionSubject
  std::optional<std::string> digest;
  std::optional<Timestamp> expires_at;

  bool operator==(const ChannelPermissionForwarded&) const = default;
};
BOOST_DESCRIBE_STRUCT(ChannelPermissionForwarded, (),
                      (peer, direction, subject, digest, expires_at))

struct ChannelPermissionReturned {
  static constexpr std::string_view kType = "channel.permission_returned";
  using Scope = ChannelActionScope;
  std::string decision;                   // as in action.resolved; cancelled: the channel closed
  std::optional<std::string> decided_by;  // local, remote
  // response, timeout, policy_deny, auth_failure, cancelled
  std::optional<std::string> source;
  std::optional<std::string> scope;  // of the answer
  std::optional<bool> channel_only;  // the decision applies to this channel alone

  bool operator==(const ChannelPermissionReturned&) const = default;
};
BOOST_DESCRIBE_STRUCT(ChannelPermissionReturned, (),
                      (decision, decided_by, source, scope, channel_only))

// The local task remains the owner of the work; the remote ids are recorded beside it.
struct ChannelPeerTaskLinked {
  static constexpr std::string_view kType = "channel.peer_task.linked";
  using Scope = PeerTaskScope;
  std::optional<std::string> native_protocol;
  std::string remote_task_id;
  std::optional<std::string> remote_context_id;
  std::optional<std::string> agent_card_ref;

  bool operator==(const ChannelPeerTaskLinked&) const = default;
};
BOOST_DESCRIBE_STRUCT(ChannelPeerTaskLinked, (),
                      (native_protocol, remote_task_id, remote_context_id, agent_card_ref))

struct ChannelPeerTaskUpdated {
  static constexpr std::string_view kType = "channel.peer_task.updated";
  using Scope = PeerTaskScope;
  std::optional<std::string> native_protocol;
  std::optional<std::string> remote_task_id;
  std::optional<std::string> remote_context_id;
  std::optional<std::string> agent_card_ref;
  std::optional<Sequence> linked_sequence;  // of its channel.peer_task.linked
  std::optional<std::string> remote_status;
  std::optional<std::string> recovery;  // a PeerRecovery
  std::optional<std::vector<std::string>> remote_artifact_refs;
  std::optional<Failure> error;

  bool operator==(const ChannelPeerTaskUpdated&) const = default;
};
BOOST_DESCRIBE_STRUCT(ChannelPeerTaskUpdated, (),
                      (native_protocol, remote_task_id, remote_context_id, agent_card_ref,
                       linked_sequence, remote_status, recovery, remote_artifact_refs, error))

}  // namespace agentrt::schema
