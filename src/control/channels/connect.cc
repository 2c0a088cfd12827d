// control/channels/connect.cc: decides how channels are connected, resumed and closed.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/digest.h"
#include "control/channels/channels.h"

namespace agentrt::control {

using namespace schema;

namespace {

std::string hash_of(std::string_view token) { return std::string(bytes_of(sha256(token))); }

std::string token_of(std::string_view secret) {
  check(secret.size() == 32, "a resume token has 256 random bits");
  return "resume_" + hex(secret);
}

// Refers to the token, and says nothing about it.
std::string token_ref(std::uint64_t number) { return fmt::format("resume_token:{}", number); }

// The transport that the runtime observes is the only one that a client may name. A client of
// POST /v1/commands may ask for events by server-sent events.
Result<Transport> transport_of(const std::optional<Transport>& claim, const Sender& sender) {
  if (!claim || *claim == sender.transport) return sender.transport;
  if (*claim == Transport::sse && sender.transport == Transport::http_json) return *claim;
  return fail(Code::invalid_params,
              fmt::format("transport: this connection is {}: name that or none",
                          name_of(sender.transport)));
}

bool allows(const Sender& sender, Transport transport, ChannelCapability capability) {
  switch (capability) {
    case ChannelCapability::permissions:
      return sender.approves && can_push(transport);
    case ChannelCapability::files:
    case ChannelCapability::task_delegation:
      return sender.submits;
    default:
      return true;
  }
}

std::vector<std::string> granted(const std::optional<std::vector<ChannelCapability>>& wanted,
                                 const Sender& sender, Transport transport) {
  std::vector<std::string> out;
  const auto asked =
      wanted.value_or(std::vector{ChannelCapability::streaming, ChannelCapability::resume});
  for (const ChannelCapability each : asked) {
    const std::string word(name_of(each));
    if (allows(sender, transport, each) && std::ranges::find(out, word) == out.end())
      out.push_back(word);
  }
  return out;
}

std::optional<Error> wrong_numbers(const ConnectChannel& command) {
  if (command.ack_window && (*command.ack_window < 1 || *command.ack_window > kAckWindowMax))
    return Error{
        Code::invalid_params, fmt::format("ackWindow: expected 1 to {} events", kAckWindowMax), {}};
  if (command.heartbeat_ms &&
      (*command.heartbeat_ms < kHeartbeatMinMs || *command.heartbeat_ms > kHeartbeatMaxMs))
    return Error{Code::invalid_params,
                 fmt::format("heartbeatMs: expected {} to {} milliseconds", kHeartbeatMinMs,
                             kHeartbeatMaxMs),
                 {}};
  if (command.native_ids && !command.native_ids->text.starts_with('{'))
    return Error{Code::invalid_params, "nativeIds: expected an object", {}};
  return std::nullopt;
}

// A connection has one channel per session.
std::optional<Error> carries_another(const ChannelId& channel, const Inputs& inputs) {
  if (inputs.channel.empty() || inputs.channel_named || inputs.channel == channel)
    return std::nullopt;
  return Error{Code::conflict,
               fmt::format("this connection already carries channel {} of the session: use it, or "
                           "open another connection",
                           inputs.channel.text()),
               fmt::format(R"({{"channelId":{}}})", to_json(inputs.channel))};
}

std::optional<Error> wrong_connect(const Session& view, const ConnectChannel& command,
                                   const Inputs& inputs) {
  if (!view.exists())
    return Error{Code::not_found, fmt::format("there is no session {}", inputs.session.text()), {}};
  if (inputs.named.channel)
    return Error{Code::conflict,
                 fmt::format("channelId: there is a channel {} already: choose another id, or call "
                             "reconnect_channel",
                             command.channel_id->text()),
                 {}};
  const PeerRole role = command.peer_role.value_or(PeerRole::client);
  if ((role == PeerRole::peer_agent || role == PeerRole::tool_server) && !inputs.sender.adapter)
    return Error{
        Code::forbidden,
        fmt::format("peerRole: {} is for the protocol adapters of the runtime", name_of(role)),
        {}};
  if (auto carried = carries_another(command.channel_id.value_or(ChannelId{}), inputs))
    return carried;
  if (view.channels.size() >= inputs.settings->channels_max)
    return Error{Code::limit_exceeded,
                 fmt::format("the session has {} open channels, the limit of per_session in "
                             "[channels]: close one with disconnect_channel",
                             view.channels.size()),
                 {}};
  if (command.after_sequence.value_or(0) > view.sequence)
    return Error{Code::gone,
                 fmt::format("afterSequence: {} is in the future: the session is at {}",
                             *command.after_sequence, view.sequence),
                 fmt::format(R"({{"headSequence":{}}})", view.sequence)};
  return wrong_numbers(command);
}

// Forwards the open actions that the channel has not got yet, and lists those that it has then.
std::vector<ActionId> forward_open(Facts& facts, const Session& view, const ChannelId& id,
                                   const std::optional<std::string>& account,
                                   std::vector<ActionId> pending) {
  for (const Turn* turn : waiting_turns(view)) {
    const state::Action& action = *turn->action;
    if (std::ranges::find(pending, action.id) != pending.end()) continue;
    facts.add(ChannelActionScope{ChannelScope{view.id, id}, action.id},
              forwarded(account, action.required, action.call.value_or(ToolCallId{})));
    pending.push_back(action.id);
  }
  return pending;
}

bool has(const std::vector<std::string>& capabilities, ChannelCapability capability) {
  return std::ranges::find(capabilities, name_of(capability)) != capabilities.end();
}

// Where delivery starts, and what cannot be delivered.
struct Start {
  std::optional<Sequence> after;  // absent: from the snapshot
  std::optional<ReplayGap> gap;
};

// `last`: the sequence of the last fact of the decision, as which the snapshot is read.
Start start_of(const Session& view, const ReconnectChannel& command, const ChannelCursor& cursor,
               const GenerationId& generation, Sequence last) {
  const bool other = command.generation && *command.generation != generation;
  // Without a generation of its own, the client counts in the one of the channel.
  const bool own = command.after_sequence && command.generation;
  if (other || (!own && cursor.generation != generation))
    return {{}, ReplayGap{1, last, std::string(kOtherGeneration)}};
  if (command.after_sequence.value_or(0) > view.sequence)
    return {{},
            ReplayGap{view.sequence + 1, *command.after_sequence, std::string(kFutureSequence)}};
  if (command.replay == Replay::none) return {};
  return {std::min(command.after_sequence.value_or(cursor.acknowledged), view.sequence), {}};
}

// What stays valid of the acknowledgement, and what the client acknowledges by its position.
Sequence acknowledged_by(const ReconnectChannel& command, const ChannelCursor& cursor,
                         const Start& start, Sequence last) {
  if (start.gap && start.gap->reason == kOtherGeneration) return last;
  if (start.gap) return cursor.acknowledged;
  return std::max(cursor.acknowledged, command.after_sequence.value_or(0));
}

std::optional<ReplayRange> replay_of(const Start& start, Sequence last) {
  if (!start.after || *start.after >= last) return std::nullopt;
  return ReplayRange{*start.after + 1, last};
}

// A wrong token, or one of another channel or client.
Decided wrong_token(const ChannelId& channel) {
  return refuse(Code::forbidden,
                fmt::format("the resume token is not that of channel {}: use the newest one, or "
                            "call connect_channel for a new channel",
                            channel.text()));
}

}  // namespace

Decided connect_channel(const Session& view, const ConnectChannel& command, Inputs inputs) {
  if (auto error = wrong_connect(view, command, inputs)) return *std::move(error);
  const auto transport = transport_of(command.transport, inputs.sender);
  if (!transport) return transport.error();
  const ChannelId id = command.channel_id.value_or(inputs.ids.next<ChannelId>());
  std::vector<std::string> capabilities = granted(command.capabilities, inputs.sender, *transport);
  const bool resumes = has(capabilities, ChannelCapability::resume);
  ChannelConnected connected;
  connected.transport = *transport;
  connected.peer_role = command.peer_role.value_or(PeerRole::client);
  connected.account_ref = inputs.sender.account;
  connected.token_id = inputs.principal;
  connected.capabilities = Json{to_json(capabilities)};
  connected.native_protocol = command.native_protocol;
  connected.native_ids = command.native_ids;
  connected.agent_card_ref = command.agent_card_ref;
  if (resumes) connected.resume_token_ref = token_ref(1);
  connected.ack_window = command.ack_window;
  connected.heartbeat_ms = command.heartbeat_ms;
  connected.boot_id = inputs.boot;

  StartedChannel reply;
  Facts facts{view, inputs};
  facts.add(ChannelScope{view.id, id}, std::move(connected));
  reply.sequence = facts.last();
  if (has(capabilities, ChannelCapability::permissions))
    reply.pending_actions = forward_open(facts, view, id, inputs.sender.account, {});
  reply.channel_id = id;
  reply.session_id = view.id;
  reply.transport = *transport;
  reply.generation = inputs.generation;
  reply.after_sequence = command.after_sequence.value_or(facts.last());
  reply.from_snapshot = !command.after_sequence;
  const bool delivers = has(capabilities, ChannelCapability::streaming) && can_push(*transport);
  if (delivers) reply.replay = replay_of({command.after_sequence, {}}, facts.last());
  reply.capabilities = std::move(capabilities);
  ChannelCursor cursor{.channel = id,
                       .session = view.id,
                       .token = inputs.principal,
                       .generation = inputs.generation,
                       .acknowledged = reply.after_sequence,
                       .resume_hash = {},
                       .resume_hash_used = {},
                       .seen_at = inputs.now};
  reply.acknowledged_sequence = cursor.acknowledged;
  reply.ack_window = command.ack_window;
  reply.heartbeat_ms = command.heartbeat_ms;
  if (resumes) {
    reply.resume_token = token_of(inputs.secret);
    cursor.resume_hash = hash_of(*reply.resume_token);
  }
  return Accepted{facts.take(), to_json(reply), {std::move(cursor)}};
}

Decided reconnect_channel(const Session& view, const ReconnectChannel& command, Inputs inputs) {
  const state::Channel* channel = state::find_channel(view, command.channel_id);
  if (!channel) return not_open(command.channel_id, inputs);
  if (auto carried = carries_another(channel->id, inputs)) return *std::move(carried);
  const auto found = inputs.named.cursors.find(channel->id);
  if (found == inputs.named.cursors.end() || channel->token_id != inputs.principal)
    return wrong_token(channel->id);
  ChannelCursor cursor = found->second;
  const std::string used = hash_of(command.resume_token);
  if (used != cursor.resume_hash && used != cursor.resume_hash_used)
    return wrong_token(channel->id);
  const auto transport = transport_of(command.transport, inputs.sender);
  if (!transport) return transport.error();

  StartedChannel reply;
  Facts facts{view, inputs};
  const ChannelScope scope{view.id, channel->id};
  if (channel->connected)
    disconnect(facts, view, *channel, {.reason = ChannelEnd::replaced}, inputs);
  const bool decides = channel->has(ChannelCapability::permissions) && can_push(*transport);
  std::size_t forwards = 0;
  for (const Turn* turn : waiting_turns(view))
    forwards += std::ranges::find(channel->pending, turn->action->id) == channel->pending.end();
  // The sequences of the facts below are known before they are made: with a gap one more.
  const Sequence plain = facts.last() + 1 + (decides ? forwards : 0);
  Start start = start_of(view, command, cursor, inputs.generation, plain);
  const Sequence last = start.gap ? plain + 1 : plain;
  if (start.gap && start.gap->reason == kOtherGeneration) start.gap->to_sequence = last;
  if (start.gap) facts.add(scope, SnapshotRepaired{facts.last(), "replay_unavailable", start.gap});
  ChannelResumed resumed;
  resumed.transport = *transport;
  resumed.after_sequence = start.after.value_or(last);
  resumed.replayed_to = std::max(*resumed.after_sequence, facts.last());
  resumed.gap = start.gap;
  resumed.resume_token_ref = token_ref(channel->resumes + 2);
  resumed.boot_id = inputs.boot;
  facts.add(scope, std::move(resumed));
  reply.sequence = facts.last();
  reply.pending_actions = channel->pending;
  if (decides)
    reply.pending_actions =
        forward_open(facts, view, channel->id, channel->account_ref, channel->pending);
  check(facts.last() == last, "the sequences of a resumption were counted");

  reply.channel_id = channel->id;
  reply.session_id = view.id;
  reply.transport = *transport;
  reply.capabilities = channel->capabilities;
  reply.resume_token = token_of(inputs.secret);
  reply.generation = inputs.generation;
  reply.after_sequence = start.after.value_or(last);
  reply.from_snapshot = !start.after && !start.gap;
  reply.resumed = true;
  reply.gap = start.gap;
  const bool delivers = channel->has(ChannelCapability::streaming) && can_push(*transport);
  if (delivers) reply.replay = replay_of(start, last);
  cursor.acknowledged = acknowledged_by(command, cursor, start, last);
  cursor.generation = inputs.generation;
  reply.acknowledged_sequence = cursor.acknowledged;
  reply.ack_window = channel->ack_window;
  reply.heartbeat_ms = channel->heartbeat_ms;
  cursor.resume_hash = hash_of(*reply.resume_token);
  cursor.resume_hash_used = used;
  cursor.seen_at = inputs.now;
  return Accepted{facts.take(), to_json(reply), {std::move(cursor)}};
}

Decided disconnect_channel(const Session& view, const DisconnectChannel& command, Inputs inputs) {
  DisconnectChannelReply reply{command.channel_id, ChannelStatus::closed, view.sequence};
  const state::Channel* channel = state::find_channel(view, command.channel_id);
  if (!channel) return Unchanged{to_json(reply)};
  Facts facts{view, inputs};
  disconnect(facts, view, *channel,
             {.reason = ChannelEnd::closed,
              .detail = command.reason,
              .last_seen_at = channel->connected ? std::optional(inputs.now) : std::nullopt},
             inputs);
  return accept(facts, reply);
}

}  // namespace agentrt::control
