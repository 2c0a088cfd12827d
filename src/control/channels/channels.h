// control/channels/channels.h: decisions about channels, and what other decisions mean for them.
//
// A disconnection never ends work: no fact here ends a turn, task or process, or resolves an
// action. The permission bridge is part of every decision: an action that is required is forwarded
// to each connected channel that decides about permissions, and its resolution is returned, in the
// same append. So a crash cannot separate them.
#pragma once

#include "control/turn_facts.h"

namespace agentrt::control {

// What a decision means for channels depends on these members of its Inputs.
struct ChannelNews {
  SessionId session;
  RequestId request;
  ChannelId channel;  // that the command came over
};

// Refuses a command over a named channel that is not connected, or not the caller's. A channel of
// the caller's connection that is no longer connected is dropped from the inputs.
std::optional<Error> settle_origin(const Session& view, Inputs& inputs);

// Adds the forwarded and returned permissions that the facts cause, and the channel of the command.
void settle_channels(const Session& view, std::vector<schema::Draft>& facts,
                     const ChannelNews& news);

// Disconnects the channels that an earlier runtime left connected.
void disconnect_earlier(Facts& facts, const Session& view, const Inputs& inputs);

// --- parts of these, for the files of this folder ---

// Whether open actions are sent to the channel's peer.
bool decides_permissions(const state::Channel& channel);
// Whether the runtime can send something to the peer by itself.
bool can_push(schema::Transport transport);
// The actions that wait for an answer.
std::vector<const Turn*> waiting_turns(const Session& view);
schema::ChannelPermissionForwarded forwarded(const std::optional<std::string>& account,
                                             const schema::ActionRequired& required,
                                             const ToolCallId& call);

// How a connection ended.
struct Disconnection {
  schema::ChannelEnd reason = schema::ChannelEnd::connection_lost;
  std::optional<std::string> detail = {};
  std::optional<Timestamp> last_seen_at = {};
};
// Disconnects the channel. If that is final, first returns its open permissions and removes the
// rules that were granted to it.
void disconnect(Facts& facts, const Session& view, const state::Channel& channel,
                const Disconnection& how, const Inputs& inputs);

// The refusal of a command that names a channel which is not open.
Error not_open(const ChannelId& channel, const Inputs& inputs);

}  // namespace agentrt::control
