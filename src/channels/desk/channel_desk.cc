#include "channels/desk/channel_desk.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "channels/desk/sse_peer.h"
#include "channels/token_files.h"
#include "schema/codec.h"

namespace agentrt::channels {

using namespace schema;

namespace {

// The reply without its snapshot, which is the last member and may be large.
std::string head_of(const std::string& reply) {
  const std::size_t at = reply.find(R"(,"snapshot":{)");
  return at == std::string::npos ? reply : reply.substr(0, at) + "}";
}

Error not_attached(const ChannelId& channel) {
  return {Code::not_found,
          fmt::format("there is no connected channel {}: call connect_channel, or "
                      "reconnect_channel if it was disconnected",
                      channel.text()),
          {}};
}

// The channel that the command itself names.
ChannelId named_by(const Command& command) {
  return std::visit(
      []<class C>(const C& c) {
        if constexpr (requires { ChannelId{c.channel_id}; })
          return c.channel_id;
        else
          return ChannelId{};
      },
      command);
}

ActionId answered_by(const Command& command) {
  if (const auto* answer = std::get_if<RespondAction>(&command)) return answer->action_id;
  if (const auto* answer = std::get_if<ResolvePermission>(&command)) return answer->action_id;
  return {};
}

ChannelId fresh_channel() {
  return ChannelId{fmt::format("{}_{}", ChannelId::kPrefix, random_token().substr(0, 26))};
}

}  // namespace

ChannelDesk::ChannelDesk(Parts parts)
    : parts_(std::move(parts)),
      bridge_(parts_.sink, parts_.inbox, [this](const SessionId& session) {
        std::vector<AttachmentPtr> out;
        if (const auto found = by_session_.find(session); found != by_session_.end())
          for (const ChannelId& id : found->second)
            if (const AttachmentPtr& each = attachments_.at(id); each->decides) out.push_back(each);
        return out;
      }) {}

void ChannelDesk::listen() {
  if (!parts_.plane) return;
  parts_.plane->listen_channels([this, inbox = parts_.inbox](const ports::ChannelNotice& notice) {
    inbox->post([this, notice] { noticed(notice); });
  });
}

// --- commands ---

void ChannelDesk::call(ports::Authorized<Command> command, ports::ReplyTo reply_to) {
  const ports::Caller& caller = command.caller();
  ChannelId over = caller.channel;
  if (!over.empty()) {
    const auto found = attachments_.find(over);
    const bool own = found != attachments_.end() &&
                     (found->second->identity->id == caller.principal || caller.sender.administers);
    if (!own) return reply_to(std::unexpected(not_attached(over)));
    const auto session = session_of(command.request());
    if (session && *session != found->second->session)
      return reply_to(
          fail(Code::not_found, fmt::format("channel {} is attached to session {}, not to this one",
                                            over.text(), found->second->session.text())));
  }
  if (over.empty()) over = named_by(command.request());
  if (const auto heard = attachments_.find(over); heard != attachments_.end())
    heard->second->heard = Clock::now();
  const ActionId answered = answered_by(command.request());
  if (!answered.empty())
    for (const auto& [_, each] : attachments_)
      if (each->id == caller.channel ||
          (caller.channels && caller.channels == each->origin.connection))
        PermissionBridge::answering(*each, answered);
  if (const auto* ack = std::get_if<AckEvents>(&command.request())) {
    reply_to = [this, inbox = parts_.inbox, channel = ack->channel_id,
                reply_to = std::move(reply_to)](ports::Reply reply) mutable {
      AckEventsReply read;
      if (reply && from_json(*reply, read, Unknown::ignore))
        inbox->post([this, channel, sequence = read.acknowledged_sequence] {
          acknowledged(channel, sequence);
        });
      reply_to(std::move(reply));
    };
  }
  parts_.sink.call(std::move(command), std::move(reply_to));
}

void ChannelDesk::acknowledged(const ChannelId& channel, Sequence sequence) {
  const auto found = attachments_.find(channel);
  if (found == attachments_.end() || found->second->acknowledged >= sequence) return;
  Attachment& attachment = *found->second;
  attachment.acknowledged = sequence;
  const auto through = attachment.through();
  if (const auto peer = attachment.peer.lock(); peer && through)
    peer->may_deliver(channel, *through);
}

// --- connecting ---

void ChannelDesk::start(Command command, std::shared_ptr<const Identity> identity,
                        RequestOrigin origin, std::shared_ptr<ChannelPeer> peer, Started started) {
  auto* connect = std::get_if<ConnectChannel>(&command);
  auto* reconnect = std::get_if<ReconnectChannel>(&command);
  if (connect && !connect->channel_id) connect->channel_id = fresh_channel();
  // Nothing can be sent to the program that embeds the runtime unless it is a ChannelPeer.
  if (connect && !peer && origin.transport == Transport::in_process && connect->capabilities)
    std::erase(*connect->capabilities, ChannelCapability::permissions);
  const ChannelId id = connect ? *connect->channel_id : reconnect->channel_id;
  if (opening_.contains(id)) {
    waiting_[id].push_back([this, command = std::move(command), identity = std::move(identity),
                            origin = std::move(origin), peer = std::weak_ptr(peer),
                            has_peer = peer != nullptr, started = std::move(started)]() mutable {
      auto still = peer.lock();
      if (has_peer && !still)
        return started(fail(Code::unavailable, "the connection was closed"), nullptr);
      start(std::move(command), std::move(identity), std::move(origin), std::move(still),
            std::move(started));
    });
    return;
  }
  auto allowed = Authorization::command(identity.get(), std::move(command), origin);
  if (!allowed) return started(std::unexpected(allowed.error()), nullptr);
  Opening& opening = opening_[id];
  opening.identity = std::move(identity);
  opening.origin = std::move(origin);
  opening.has_peer = peer != nullptr;
  opening.peer = peer;
  opening.started = std::move(started);
  parts_.sink.call(*std::move(allowed), [this, inbox = parts_.inbox, id](ports::Reply reply) {
    inbox->post([this, id, reply = std::move(reply)]() mutable { replied(id, std::move(reply)); });
  });
}

void ChannelDesk::replied(const ChannelId& channel, ports::Reply reply) {
  auto node = opening_.extract(channel);
  finish(node.mapped(), channel, std::move(reply));
  const auto next = waiting_.find(channel);
  if (next == waiting_.end() || opening_.contains(channel)) return;
  auto start_next = std::move(next->second.front());
  next->second.pop_front();
  if (next->second.empty()) waiting_.erase(next);
  start_next();
}

void ChannelDesk::finish(Opening& opening, const ChannelId& channel, ports::Reply reply) {
  if (!reply) return opening.started(std::move(reply), nullptr);
  StartedChannel started;
  if (auto read = from_json(head_of(*reply), started, Unknown::ignore); !read)
    return opening.started(std::unexpected(read.error()), nullptr);
  AttachmentPtr attachment = attach(opening, started);
  for (const ports::ChannelNotice& notice : opening.notices) noticed(notice);
  if (!attachments_.contains(channel)) attachment = nullptr;  // it has ended meanwhile
  opening.started(std::move(reply), attachment);
}

AttachmentPtr ChannelDesk::attach(Opening& opening, const StartedChannel& started) {
  if (const auto before = attachments_.find(started.channel_id); before != attachments_.end())
    detach(AttachmentPtr(before->second));
  auto attachment = std::make_shared<Attachment>();
  attachment->id = started.channel_id;
  attachment->session = started.session_id;
  attachment->since = started.sequence;
  attachment->after = started.after_sequence;
  attachment->identity = std::move(opening.identity);
  attachment->origin = std::move(opening.origin);
  attachment->transport = started.transport;
  const auto has = [&](ChannelCapability capability) {
    return std::ranges::find(started.capabilities, name_of(capability)) !=
           started.capabilities.end();
  };
  attachment->ack_window = started.ack_window;
  attachment->acknowledged = started.acknowledged_sequence;
  attachment->heartbeat = Duration(started.heartbeat_ms.value_or(0));
  if (started.transport == Transport::sse) {
    attachment->sse = std::make_shared<SsePeer>(parts_.limits.ping * kHeartbeatsMissedMax);
    attachment->peer = attachment->sse;
  } else {
    attachment->peer = opening.peer;
  }
  attachment->has_peer = opening.has_peer || attachment->sse;
  attachment->delivers = attachment->has_peer && has(ChannelCapability::streaming);
  attachment->decides = attachment->has_peer && has(ChannelCapability::permissions);
  if (attachment->origin.connection)
    attachment->origin.connection->put(attachment->session, attachment->id);
  attachments_[attachment->id] = attachment;
  by_session_[attachment->session].insert(attachment->id);
  parts_.metrics.channels.store(attachments_.size(), std::memory_order_relaxed);
  if (attachment->has_peer && attachment->peer.expired())
    lost(attachment->id, ChannelEnd::connection_lost);
  return attachment;
}

void ChannelDesk::ready(const Attachment& attachment) {
  if (attachment.decides) bridge_.update(attachment.session);
}

AttachmentPtr ChannelDesk::find(const ChannelId& channel, const Identity& identity) const {
  const auto found = attachments_.find(channel);
  if (found == attachments_.end()) return nullptr;
  const bool own = found->second->identity->id == identity.id || identity.allows(TokenScope::admin);
  return own ? found->second : nullptr;
}

// --- permissions ---

void ChannelDesk::answer(const ChannelId& channel, const ActionId& action,
                         std::string_view result) {
  const auto found = attachments_.find(channel);
  if (found != attachments_.end()) bridge_.answer(AttachmentPtr(found->second), action, result);
}

void ChannelDesk::noticed(const ports::ChannelNotice& notice) {
  if (const auto opening = opening_.find(notice.channel); opening != opening_.end())
    opening->second.notices.push_back(notice);
  const auto found = attachments_.find(notice.channel);
  if (found == attachments_.end()) return;
  const AttachmentPtr attachment = found->second;
  if (notice.what == ports::ChannelNotice::What::actions) {
    if (attachment->decides) bridge_.update(notice.session);
  } else if (notice.sequence > attachment->since) {
    end(attachment, notice.reason);
  }
}

// --- ends ---

void ChannelDesk::detach(const AttachmentPtr& attachment) {
  const auto found = attachments_.find(attachment->id);
  if (found == attachments_.end() || found->second != attachment) return;
  attachments_.erase(found);
  if (const auto mine = by_session_.find(attachment->session); mine != by_session_.end()) {
    mine->second.erase(attachment->id);
    if (mine->second.empty()) by_session_.erase(mine);
  }
  if (attachment->origin.connection)
    attachment->origin.connection->remove(attachment->session, attachment->id);
  parts_.metrics.channels.store(attachments_.size(), std::memory_order_relaxed);
}

// Ends the delivery. A connection that resumes its own channel continues.
void ChannelDesk::end(const AttachmentPtr& attachment, ChannelEnd reason) {
  const auto peer = attachment->peer.lock();
  const auto opening = opening_.find(attachment->id);
  const bool resumes_itself = reason == ChannelEnd::replaced && peer && opening != opening_.end() &&
                              opening->second.peer.lock() == peer;
  detach(attachment);
  if (peer && !resumes_itself) peer->ended(attachment->id, reason);
}

Timestamp ChannelDesk::wall_time(Instant heard) const {
  const auto ago = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - heard);
  return parts_.now() + -std::max<std::int64_t>(0, ago.count());
}

void ChannelDesk::report(const Attachment& attachment, ChannelEnd reason) {
  if (!parts_.plane) return;
  const auto peer = attachment.peer.lock();
  const Instant heard = peer ? std::max(peer->heard(), attachment.heard) : attachment.heard;
  ++reports_;
  parts_.plane->channel_lost(attachment.session,
                             ReportChannelLost{.channel = attachment.id,
                                               .since = attachment.since,
                                               .reason = reason,
                                               .last_seen_at = wall_time(heard)},
                             [this, inbox = parts_.inbox] {
                               inbox->post([this] {
                                 if (--reports_ == 0 && stopped_) std::exchange(stopped_, {})();
                               });
                             });
}

void ChannelDesk::lost(const ChannelId& channel, ChannelEnd reason) {
  const auto found = attachments_.find(channel);
  if (found == attachments_.end()) return;
  const AttachmentPtr attachment = found->second;
  report(*attachment, reason);
  detach(attachment);
  if (const auto peer = attachment->peer.lock()) peer->ended(channel, reason);
}

void ChannelDesk::lost_peer(const ChannelPeer& peer, ChannelEnd reason) {
  std::vector<ChannelId> its;
  for (const auto& [id, attachment] : attachments_)
    if (attachment->peer.lock().get() == &peer) its.push_back(id);
  for (const ChannelId& id : its) lost(id, reason);
}

void ChannelDesk::revoked(const std::string& token) {
  std::vector<ChannelId> its;
  for (const auto& [id, attachment] : attachments_)
    if (attachment->identity->id == token) its.push_back(id);
  for (const ChannelId& id : its) lost(id, ChannelEnd::token_revoked);
  if (parts_.plane) parts_.plane->close_channels_of(token);
}

bool ChannelDesk::tick(Instant now) {
  std::vector<std::pair<ChannelId, ChannelEnd>> over;
  bool again = false;
  for (const auto& [id, attachment] : attachments_) {
    const auto peer = attachment->peer.lock();
    if (attachment->identity->expires_at && parts_.expired(*attachment->identity)) {
      over.emplace_back(id, ChannelEnd::token_revoked);
      continue;
    }
    again = again || attachment->sse || attachment->heartbeat.count() > 0 ||
            attachment->identity->expires_at;
    if (attachment->has_peer && !peer) {
      over.emplace_back(id, ChannelEnd::connection_lost);
      continue;
    }
    const auto fault = peer ? peer->fault(now) : std::nullopt;
    const Instant heard = peer ? std::max(peer->heard(), attachment->heard) : attachment->heard;
    if (fault)
      over.emplace_back(id, *fault);
    else if (attachment->heartbeat.count() > 0 &&
             now - heard > attachment->heartbeat * kHeartbeatsMissedMax)
      over.emplace_back(id, ChannelEnd::heartbeat_timeout);
  }
  for (const auto& [id, reason] : over) lost(id, reason);
  return again;
}

void ChannelDesk::stop(std::function<void()> done) {
  while (!attachments_.empty())
    lost(ChannelId{attachments_.begin()->first}, ChannelEnd::runtime_stopped);
  if (parts_.plane) parts_.plane->listen_channels({});
  if (reports_ == 0) return done();
  stopped_ = std::move(done);
}

}  // namespace agentrt::channels
