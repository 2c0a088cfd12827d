#include "validate/channel_rules.h"

#include <algorithm>

namespace agentrt::validate {

using namespace schema;

namespace {

bool is_last(const std::optional<std::string>& reason) {
  const auto end = enum_of<ChannelEnd>(reason.value_or(""));
  return end && is_final(*end);
}

// Words for the end of a task, as protocols have them.
bool is_ended(const std::optional<std::string>& remote_status) {
  constexpr std::string_view kEnded[] = {"completed", "failed", "cancelled", "canceled",
                                         "rejected"};
  return remote_status && std::ranges::find(kEnded, *remote_status) != std::ranges::end(kEnded);
}

}  // namespace

// --- connections ---

ChannelRules::Channel& ChannelRules::channel() {
  return channels_.at(hearing_.key(hearing_.head().channel_id));
}

void ChannelRules::check_open(const Channel& channel) {
  if (channel.closed)
    hearing_.fail("channel.order",
                  fmt::format("channel {} was closed", hearing_.head().channel_id));
}

ChannelRules::Channel& ChannelRules::connected_channel() {
  Channel& open = channel();
  check_open(open);
  if (!open.closed && !open.connected && !(hearing_.excuses(channels_) && !open.known))
    hearing_.fail("channel.order",
                  fmt::format("channel {} is not connected", hearing_.head().channel_id));
  return open;
}

void ChannelRules::operator()(const ChannelConnected&) {
  Channel& open = channel();
  check_open(open);
  if (open.connected)
    hearing_.fail("channel.order",
                  fmt::format("channel {} is already connected", hearing_.head().channel_id));
  open.known = true;
  open.connected = true;
}

void ChannelRules::operator()(const ChannelDisconnected& p) {
  const Head& head = hearing_.head();
  const bool last = is_last(p.reason);
  Channel& open = last ? channel() : connected_channel();
  if (last) check_open(open);
  if (last && !open.known && !hearing_.excuses(channels_))
    hearing_.fail("channel.order", fmt::format("channel {} was never connected", head.channel_id));
  if (p.acknowledged_sequence) {
    if (*p.acknowledged_sequence < open.acknowledged)
      hearing_.fail("channel.ack", fmt::format("the acknowledgement goes back from {} to {}",
                                               open.acknowledged, *p.acknowledged_sequence));
    open.acknowledged = std::max<std::uint64_t>(open.acknowledged, *p.acknowledged_sequence);
  }
  if (last && open.forwarded > 0)
    hearing_.fail("channel.permission",
                  fmt::format("channel {} closes with {} permissions that were not returned",
                              head.channel_id, open.forwarded));
  open.connected = false;
  open.known = true;
  open.closed = open.closed || last;
  sessions_.at(hearing_.session).disconnection = {head.channel_id, head.timestamp, head.request_id,
                                                  head.sequence.value_or(0)};
  if (last) channels_.end(hearing_.key(head.channel_id));
}

void ChannelRules::operator()(const ChannelResumed& p) {
  Channel& open = channel();
  const std::string& id = hearing_.head().channel_id;
  check_open(open);
  if (!open.known && !hearing_.excuses(channels_))
    hearing_.fail("channel.order", fmt::format("channel {} was never connected", id));
  else if (open.connected)
    hearing_.fail("channel.order", fmt::format("channel {} is already connected", id));
  open.known = true;
  open.connected = true;
  check_gap(p);
}

// Without a gap, everything up to this event is delivered again or was before.
void ChannelRules::check_gap(const ChannelResumed& p) {
  const std::uint64_t sequence = hearing_.head().sequence.value_or(0);
  if (!p.gap) {
    if (p.replayed_to && *p.replayed_to + 1 < sequence)
      hearing_.fail("channel.gap", fmt::format("events {} to {} are skipped without a gap",
                                               *p.replayed_to + 1, sequence - 1));
    return;
  }
  const Session& session = sessions_.at(hearing_.session);
  if (p.gap->from_sequence > p.gap->to_sequence)
    hearing_.fail("channel.gap", "the gap ends before it begins");
  else if (!hearing_.partial && session.gap != p.gap)
    hearing_.fail("channel.gap", "no snapshot.repaired before it names this gap");
}

void ChannelRules::operator()(const SnapshotRepaired& p) {
  if (p.gap) sessions_.at(hearing_.session).gap = p.gap;
}

void ChannelRules::operator()(const ChannelMessage&) { connected_channel(); }

// --- permissions ---

void ChannelRules::operator()(const ChannelPermissionForwarded&) {
  const Head& head = hearing_.head();
  Channel& open = connected_channel();
  std::uint64_t& count = permissions_.at(hearing_.key(head.channel_id + " " + head.action_id));
  if (count > 0 && !head.action_id.empty())
    hearing_.fail("channel.permission",
                  fmt::format("action {} was already forwarded", head.action_id));
  ++count;
  ++open.forwarded;
}

void ChannelRules::operator()(const ChannelPermissionReturned&) {
  const Head& head = hearing_.head();
  Channel& open = channel();
  check_open(open);
  const Key key = hearing_.key(head.channel_id + " " + head.action_id);
  std::uint64_t* count = permissions_.find(key);
  if (!count || *count == 0) {
    if (!hearing_.excuses(permissions_))
      hearing_.fail("channel.permission", "a permission is returned that was not forwarded");
    return;
  }
  if (--*count == 0) permissions_.end(key);
  if (open.forwarded > 0) --open.forwarded;
}

// --- tasks of peers ---

Key ChannelRules::peer_task(const std::string& channel) const {
  return hearing_.key(channel + " " + hearing_.head().task_id);
}

void ChannelRules::operator()(const ChannelPeerTaskLinked& p) {
  const Head& head = hearing_.head();
  if (p.remote_task_id == head.task_id)
    hearing_.fail("channel.peer_task",
                  fmt::format("the peer's task {} has the id of a local task", head.task_id));
  check_open(channel());
  peer_tasks_.at(peer_task(head.channel_id)) = true;
}

void ChannelRules::operator()(const ChannelPeerTaskUpdated& p) {
  const Head& head = hearing_.head();
  if (!peer_tasks_.find(peer_task(head.channel_id)) && !hearing_.excuses(peer_tasks_))
    hearing_.fail("channel.peer_task",
                  fmt::format("task {} is not linked to a task of the peer", head.task_id));
  check_open(channel());
  const std::string* lost = disconnected_with();
  if (lost && *lost == head.channel_id && is_ended(p.remote_status))
    hearing_.fail("channel.disconnect",
                  fmt::format("the disconnection of channel {} ends the peer's task of {}", *lost,
                              head.task_id));
}

const std::string* ChannelRules::disconnected_with() {
  const Head& head = hearing_.head();
  Session* session = sessions_.find(hearing_.session);
  if (!session || session->disconnection.channel.empty()) return nullptr;
  const Disconnection& lost = session->disconnection;
  if (lost.timestamp == head.timestamp && lost.request == head.request_id &&
      head.sequence == lost.sequence + 1)
    return &lost.channel;
  return nullptr;
}

void ChannelRules::task_ends() {
  const std::string* lost = disconnected_with();
  if (lost && peer_tasks_.find(peer_task(*lost)))
    hearing_.fail("channel.disconnect", fmt::format("the disconnection of channel {} ends task {}",
                                                    *lost, hearing_.head().task_id));
}

void ChannelRules::operator()(const TaskCompleted&) { task_ends(); }
void ChannelRules::operator()(const TaskFailed&) { task_ends(); }
void ChannelRules::operator()(const TaskCancelled&) { task_ends(); }
void ChannelRules::operator()(const TaskTimedOut&) { task_ends(); }

}  // namespace agentrt::validate
