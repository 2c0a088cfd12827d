#include "state/channels.h"

#include <algorithm>

#include "state/session.h"

namespace agentrt::state {

using namespace schema;

namespace {

struct Words {
  std::vector<std::string> words;
};
BOOST_DESCRIBE_STRUCT(Words, (), (words))

Channel* find(Session& session, const Fact& fact) {
  const auto at = session.channels.find(fact.ids.channel_id);
  return at == session.channels.end() ? nullptr : &at->second;
}

// Another runtime's fact may describe capabilities in another way.
std::vector<std::string> words_in(const std::optional<Json>& list) {
  Words read;
  if (!list || !from_json(R"({"words":)" + list->text + "}", read, Unknown::ignore)) return {};
  return read.words;
}

}  // namespace

bool Channel::has(ChannelCapability capability) const {
  return std::ranges::find(capabilities, name_of(capability)) != capabilities.end();
}

void fold_channel(Session& session, const Fact& fact, const ChannelConnected& p) {
  Channel channel;
  channel.id = fact.ids.channel_id;
  channel.transport = p.transport;
  channel.peer_role = p.peer_role;
  channel.account_ref = p.account_ref;
  channel.token_id = p.token_id;
  channel.capabilities = words_in(p.capabilities);
  channel.native_protocol = p.native_protocol;
  channel.native_ids = p.native_ids;
  channel.agent_card_ref = p.agent_card_ref;
  channel.resume_token_ref = p.resume_token_ref;
  channel.ack_window = p.ack_window;
  channel.heartbeat_ms = p.heartbeat_ms;
  channel.connected = true;
  channel.boot = p.boot_id;
  channel.first = channel.since = fact.sequence;
  channel.connected_at = channel.last_seen_at = fact.at;
  session.channels.insert_or_assign(fact.ids.channel_id, std::move(channel));
}

void fold_channel(Session& session, const Fact& fact, const ChannelDisconnected& p) {
  Channel* channel = find(session, fact);
  if (!channel) return;
  channel->connected = false;
  channel->reason = p.reason;
  channel->disconnected_at = fact.at;
  channel->expires_at = p.expires_at;
  if (p.last_seen_at) channel->last_seen_at = *p.last_seen_at;
  if (p.acknowledged_sequence)
    channel->acknowledged = std::max(channel->acknowledged, *p.acknowledged_sequence);
  if (!closes(*channel, p.reason.value_or(""))) return;
  session.closed_channel = std::move(*channel);
  session.channels.erase(fact.ids.channel_id);
}

void fold_channel(Session& session, const Fact& fact, const ChannelResumed& p) {
  Channel* channel = find(session, fact);
  if (!channel) return;
  if (p.transport) channel->transport = *p.transport;
  channel->resume_token_ref = p.resume_token_ref;
  channel->connected = true;
  channel->boot = p.boot_id;
  channel->since = fact.sequence;
  channel->last_seen_at = fact.at;
  channel->disconnected_at.reset();
  channel->expires_at.reset();
  channel->reason.reset();
  ++channel->resumes;
}

void fold_channel(Session& session, const Fact& fact, const ChannelMessage& p) {
  Channel* channel = find(session, fact);
  if (channel && p.direction != name_of(MessageDirection::out)) channel->last_seen_at = fact.at;
}

void fold_channel(Session& session, const Fact& fact, const ChannelPermissionForwarded&) {
  if (Channel* channel = find(session, fact)) channel->pending.push_back(fact.ids.action_id);
}

void fold_channel(Session& session, const Fact& fact, const ChannelPermissionReturned&) {
  if (Channel* channel = find(session, fact)) std::erase(channel->pending, fact.ids.action_id);
}

const Channel* find_channel(const Session& session, const ChannelId& channel) {
  const auto at = session.channels.find(channel);
  return at == session.channels.end() ? nullptr : &at->second;
}

bool closes(const Channel& channel, std::string_view reason) {
  if (!channel.has(ChannelCapability::resume)) return true;
  const auto end = enum_of<ChannelEnd>(reason);
  return end && is_final(*end);
}

ChannelSnapshot channel_snapshot(const SessionId& session, const Channel& channel) {
  ChannelSnapshot out;
  out.channel_id = channel.id;
  out.session_id = session;
  out.status = channel.connected ? ChannelStatus::connected : ChannelStatus::disconnected;
  out.reason = channel.reason;
  out.transport = channel.transport;
  out.peer_role = channel.peer_role;
  out.account_ref = channel.account_ref;
  out.token_id = channel.token_id;
  out.capabilities = channel.capabilities;
  out.native_protocol = channel.native_protocol;
  out.native_ids = channel.native_ids;
  out.agent_card_ref = channel.agent_card_ref;
  out.resume_token_ref = channel.resume_token_ref;
  out.ack_window = channel.ack_window;
  out.heartbeat_ms = channel.heartbeat_ms;
  out.connected_at = channel.connected_at;
  out.last_seen_at = channel.last_seen_at;
  out.disconnected_at = channel.disconnected_at;
  out.expires_at = channel.expires_at;
  out.acknowledged_sequence = channel.acknowledged;
  out.pending_actions = channel.pending;
  out.boot_id = channel.boot;
  return out;
}

}  // namespace agentrt::state
