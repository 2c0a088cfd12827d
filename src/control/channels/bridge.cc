// control/channels/bridge.cc: the permission bridge: what actions mean for channels; and how
// channels end.
#include <algorithm>

#include <fmt/format.h>

#include "control/channels/channels.h"

namespace agentrt::control {

using namespace schema;

namespace {

constexpr std::string_view kExpired = "expired";      // of action.resolved, without an answer
constexpr std::string_view kCancelled = "cancelled";  // the same

bool by_host(const ActionResolved& resolved) {
  return resolved.decision_source == name_of(DecisionSource::host_policy);
}

// Whether policy refuses the call that the answer allowed: a rule was added meanwhile.
bool denied_since(const std::vector<Draft>& facts, const Draft& resolved) {
  if (resolved.ids.tool_call_id.empty()) return false;
  return std::ranges::any_of(facts, [&](const Draft& draft) {
    const auto* judged = std::get_if<PermissionEvaluated>(&draft.payload);
    return judged && judged->decision == Decision::deny &&
           draft.ids.tool_call_id == resolved.ids.tool_call_id;
  });
}

ChannelPermissionReturned returned(const ActionResolved& resolved, bool here, bool denied) {
  ChannelPermissionReturned out;
  out.decision = resolved.decision;
  out.decided_by = here ? kDecidedRemotely : kDecidedLocally;
  out.source = "response";
  out.scope = resolved.scope;
  out.channel_only = here && resolved.scope == name_of(AnswerScope::channel);
  if (by_host(resolved)) {
    out.source = resolved.decision == kExpired ? "timeout" : kCancelled;
  } else if (denied && resolved.decision == "allow") {
    out.decision = name_of(Decision::deny);
    out.decided_by = kDecidedLocally;
    out.source = "policy_deny";
    out.channel_only = false;
  }
  return out;
}

// Of an action that is required and resolved in one decision, no channel gets to know.
bool resolved_at_once(const std::vector<Draft>& facts, const ActionId& action) {
  return std::ranges::any_of(facts, [&](const Draft& draft) {
    return std::holds_alternative<ActionResolved>(draft.payload) && draft.ids.action_id == action;
  });
}

class Bridge {
 public:
  Bridge(const Session& view, std::vector<Draft>& facts, const ChannelNews& news)
      : view_(view), facts_(facts), news_(news) {}

  void required(const Draft& draft, const ActionRequired& required) {
    if (resolved_at_once(facts_, draft.ids.action_id)) return;
    for (const auto& [id, channel] : view_.channels) {
      if (!channel.connected || !decides_permissions(channel) || ends(id)) continue;
      add(id, draft.ids.action_id,
          forwarded(channel.account_ref, required, draft.ids.tool_call_id));
    }
  }
  void resolved(const Draft& draft, const ActionResolved& resolved) {
    const bool denied = denied_since(facts_, draft);
    for (const auto& [id, channel] : view_.channels)
      if (std::ranges::find(channel.pending, draft.ids.action_id) != channel.pending.end())
        add(id, draft.ids.action_id, returned(resolved, id == news_.channel, denied));
  }
  std::vector<Draft> take() { return std::move(added_); }

 private:
  // Whether these facts disconnect the channel.
  bool ends(const ChannelId& channel) const {
    return std::ranges::any_of(facts_, [&](const Draft& draft) {
      return std::holds_alternative<ChannelDisconnected>(draft.payload) &&
             draft.ids.channel_id == channel;
    });
  }
  template <class P>
  void add(const ChannelId& channel, const ActionId& action, P payload) {
    ChannelActionScope scope{ChannelScope{news_.session, channel}, action};
    scope.set_request(news_.request);
    added_.emplace_back(scope, std::move(payload));
  }

  const Session& view_;
  const std::vector<Draft>& facts_;
  const ChannelNews& news_;
  std::vector<Draft> added_;
};

// Takes back the rules that applied to the turns of the channel alone.
void remove_rules(Facts& facts, const Session& view, const ChannelId& channel) {
  PolicyChanged changed{.change = "rules"};
  changed.source = "configuration";
  changed.added.emplace();
  changed.removed.emplace();
  for (const PolicyRule& rule : view.granted)
    if (rule.channel_id == channel) changed.removed->push_back(rule);
  if (changed.removed->empty()) return;
  changed.reason = fmt::format("channel {} is closed", channel.text());
  facts.add(facts.of_session(), std::move(changed));
}

}  // namespace

bool can_push(Transport transport) {
  return transport != Transport::http_json && transport != Transport::json_rpc;
}

bool decides_permissions(const state::Channel& channel) {
  return channel.has(ChannelCapability::permissions) && can_push(channel.transport);
}

std::vector<const Turn*> waiting_turns(const Session& view) {
  std::vector<const Turn*> out;
  for (const auto& [_, thread] : view.threads)
    if (thread.active && thread.active->action) out.push_back(&*thread.active);
  return out;
}

ChannelPermissionForwarded forwarded(const std::optional<std::string>& account,
                                     const ActionRequired& required, const ToolCallId& call) {
  PermissionSubject subject;
  subject.kind = required.action_type == kPermissionAction ? "tool" : "action";
  subject.action_type = required.action_type;
  subject.tool_name = required.tool_name;
  subject.tool_call_id = call;
  ChannelPermissionForwarded out;
  out.peer = account;
  out.direction = name_of(MessageDirection::out);
  out.subject = Json{to_json(subject)};
  out.digest = required.digest;
  out.expires_at = required.expires_at;
  return out;
}

void settle_channels(const Session& view, std::vector<Draft>& facts, const ChannelNews& news) {
  if (!news.channel.empty())
    for (Draft& draft : facts)
      if (draft.ids.channel_id.empty()) draft.ids.channel_id = news.channel;
  if (view.channels.empty()) return;
  Bridge bridge{view, facts, news};
  for (const Draft& draft : facts) {
    if (const auto* required = std::get_if<ActionRequired>(&draft.payload))
      bridge.required(draft, *required);
    if (const auto* resolved = std::get_if<ActionResolved>(&draft.payload))
      bridge.resolved(draft, *resolved);
  }
  std::ranges::move(bridge.take(), std::back_inserter(facts));
}

std::optional<Error> settle_origin(const Session& view, Inputs& inputs) {
  if (inputs.channel.empty()) return std::nullopt;
  const state::Channel* channel = state::find_channel(view, inputs.channel);
  const bool own = channel && (channel->token_id == inputs.principal || inputs.sender.administers);
  if (own && channel->connected) return std::nullopt;
  if (!inputs.channel_named) {
    inputs.channel = {};
    return std::nullopt;
  }
  if (!own)
    return Error{Code::not_found,
                 fmt::format("there is no open channel {} of this session: call connect_channel",
                             inputs.channel.text()),
                 {}};
  return Error{
      Code::conflict,
      fmt::format("channel {} is not connected: call reconnect_channel", inputs.channel.text()),
      R"({"status":"disconnected"})"};
}

void disconnect(Facts& facts, const Session& view, const state::Channel& channel,
                const Disconnection& how, const Inputs& inputs) {
  const ChannelScope scope{inputs.session, channel.id};
  const std::string reason(name_of(how.reason));
  const bool last = state::closes(channel, reason);
  if (last) {
    for (const ActionId& action : channel.pending)
      facts.add(ChannelActionScope{scope, action},
                ChannelPermissionReturned{.decision = std::string(kCancelled),
                                          .decided_by = std::string(kDecidedLocally),
                                          .source = how.reason == ChannelEnd::token_revoked
                                                        ? "auth_failure"
                                                        : std::string(kCancelled),
                                          .scope = {},
                                          .channel_only = false});
    remove_rules(facts, view, channel.id);
  }
  ChannelDisconnected ended;
  ended.reason = reason;
  ended.detail = how.detail;
  ended.acknowledged_sequence = channel.acknowledged;
  if (const auto cursor = inputs.named.cursors.find(channel.id);
      cursor != inputs.named.cursors.end() && cursor->second.generation == inputs.generation)
    ended.acknowledged_sequence = std::max(channel.acknowledged, cursor->second.acknowledged);
  ended.last_seen_at = how.last_seen_at.value_or(channel.last_seen_at);
  if (!last) ended.expires_at = inputs.now + inputs.settings->channel_expire_ms;
  facts.add(scope, std::move(ended));
}

void disconnect_earlier(Facts& facts, const Session& view, const Inputs& inputs) {
  for (const auto& [_, channel] : view.channels)
    if (channel.connected && channel.boot != inputs.boot)
      disconnect(facts, view, channel, {.reason = ChannelEnd::runtime_restart}, inputs);
}

Error not_open(const ChannelId& channel, const Inputs& inputs) {
  const auto& known = inputs.named.channel;
  const std::string reason = known ? known->reason.value_or("closed") : "closed";
  const bool expired = reason == name_of(ChannelEnd::expired);
  return {expired ? Code::expired : Code::conflict,
          fmt::format("channel {} is closed ({}): call connect_channel for a new one",
                      channel.text(), reason),
          fmt::format(R"({{"status":"closed","reason":{}}})", to_json(reason))};
}

Decided channel_lost(const Session& view, const ReportChannelLost& report, Inputs inputs) {
  const state::Channel* channel = state::find_channel(view, report.channel);
  if (!channel) return Unchanged{};
  const bool revoked = report.reason == ChannelEnd::token_revoked;
  if (!revoked && (!channel->connected || channel->since != report.since)) return Unchanged{};
  Facts facts{view, inputs};
  Disconnection how{.reason = report.reason};
  if (report.since == channel->since) how.last_seen_at = report.last_seen_at;
  disconnect(facts, view, *channel, how, inputs);
  return accept(facts);
}

Decided channel_due(const Session& view, const ReportChannelDue& report, Inputs inputs) {
  const state::Channel* channel = state::find_channel(view, report.channel);
  if (!channel || channel->connected || !channel->disconnected_at) return Unchanged{};
  if (inputs.since(*channel->disconnected_at) < inputs.settings->channel_expire_ms)
    return Unchanged{};
  Facts facts{view, inputs};
  disconnect(facts, view, *channel, {.reason = ChannelEnd::expired}, inputs);
  return accept(facts);
}

}  // namespace agentrt::control
