// schema/facts/channel.h: peers that a session is connected to.
#pragma once

#include "schema/facts/permission.h"
#include "schema/scope.h"
#include "schema/values.h"

namespace agentrt::schema {

BOOST_DEFINE_ENUM_CLASS(Transport, websocket, sse, json_rpc, grpc, http_json, stdio, in_process,
                        custom)

BOOST_DEFINE_ENUM_CLASS(PeerRole, client, host, worker, remote_runtime, peer_agent, tool_server)

struct ChannelConnected {
  static constexpr std::string_view kType = "channel.connected";
  Transport transport = Transport::custom;
  PeerRole peer_role = PeerRole::client;
  std::optional<std::string> account_ref;
  std::optional<Json> capabilities;
  std::optional<std::string> native_protocol;
  std::optional<std::string> resume_token_ref;

  bool operator==(const ChannelConnected&) const = default;
};
BOOST_DESCRIBE_STRUCT(ChannelConnected, (),
                      (transport, peer_role, account_ref, capabilities, native_protocol,
                       resume_token_ref))

struct ChannelDisconnected {
  static constexpr std::string_view kType = "channel.disconnected";
  std::optional<std::string> reason;

  bool operator==(const ChannelDisconnected&) const = default;
};
BOOST_DESCRIBE_STRUCT(ChannelDisconnected, (), (reason))

struct ChannelResumed {
  static constexpr std::string_view kType = "channel.resumed";
  std::optional<std::uint64_t> after_sequence;
  std::optional<std::string> reason;

  bool operator==(const ChannelResumed&) const = default;
};
BOOST_DESCRIBE_STRUCT(ChannelResumed, (), (after_sequence, reason))

struct ChannelMessage {
  static constexpr std::string_view kType = "channel.message";
  std::optional<std::string> kind;
  std::optional<std::string> preview;
  std::optional<std::string> message_ref;

  bool operator==(const ChannelMessage&) const = default;
};
BOOST_DESCRIBE_STRUCT(ChannelMessage, (), (kind, preview, message_ref))

struct ChannelPermissionForwarded {
  static constexpr std::string_view kType = "channel.permission_forwarded";
  std::optional<std::string> peer;
  std::optional<std::string> digest;

  bool operator==(const ChannelPermissionForwarded&) const = default;
};
BOOST_DESCRIBE_STRUCT(ChannelPermissionForwarded, (), (peer, digest))

struct ChannelPermissionReturned {
  static constexpr std::string_view kType = "channel.permission_returned";
  Decision decision = Decision::deny;
  std::optional<std::string> decided_by;  // local or remote
  std::optional<std::string> source;      // response, timeout, policy_deny, auth_failure
  std::optional<bool> channel_only;

  bool operator==(const ChannelPermissionReturned&) const = default;
};
BOOST_DESCRIBE_STRUCT(ChannelPermissionReturned, (), (decision, decided_by, source, channel_only))

// The local task remains the owner of the work; the remote ids are recorded beside it.
struct ChannelPeerTaskLinked {
  static constexpr std::string_view kType = "channel.peer_task.linked";
  std::optional<std::string> native_protocol;
  std::string remote_task_id;
  std::optional<std::string> remote_context_id;
  std::optional<std::string> remote_agent_ref;

  bool operator==(const ChannelPeerTaskLinked&) const = default;
};
BOOST_DESCRIBE_STRUCT(ChannelPeerTaskLinked, (),
                      (native_protocol, remote_task_id, remote_context_id, remote_agent_ref))

struct ChannelPeerTaskUpdated {
  static constexpr std::string_view kType = "channel.peer_task.updated";
  std::optional<std::string> remote_task_id;
  std::optional<std::string> remote_status;
  std::optional<std::vector<std::string>> remote_artifact_refs;

  bool operator==(const ChannelPeerTaskUpdated&) const = default;
};
BOOST_DESCRIBE_STRUCT(ChannelPeerTaskUpdated, (),
                      (remote_task_id, remote_status, remote_artifact_refs))

}  // namespace agentrt::schema
