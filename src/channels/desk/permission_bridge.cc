#include "channels/desk/permission_bridge.h"

#include <algorithm>

#include "schema/codec.h"

namespace agentrt::channels {

using namespace schema;

namespace {

// More than a session can have: each of its threads waits for at most one action.
constexpr std::uint64_t kOpenActionsMax = 1'000;

struct ActionList {
  std::vector<Json> data;
};
BOOST_DESCRIBE_STRUCT(ActionList, (), (data))

// The members of an answer; those of respond_action that the peer chooses.
struct Answer {
  std::string decision;
  std::optional<AnswerScope> scope;
  std::optional<std::string> rule;
  std::optional<Json> payload;
  std::optional<std::string> reason;
};
BOOST_DESCRIBE_STRUCT(Answer, (), (decision, scope, rule, payload, reason))

// The params of request_action, up to the record of the action.
struct RequestHead {
  ChannelId channel_id;
  ActionId action_id;
  std::string action_type;
  std::optional<std::string> prompt;
  std::optional<Json> schema;
  std::optional<std::vector<std::string>> decisions;
  std::optional<std::vector<std::string>> scopes;
  std::optional<std::string> digest;
  std::optional<Timestamp> expires_at;
};
BOOST_DESCRIBE_STRUCT(RequestHead, (),
                      (channel_id, action_id, action_type, prompt, schema, decisions, scopes,
                       digest, expires_at))

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// Where an answer for the session has an effect, one for the turns of this channel has.
std::optional<std::vector<std::string>> scopes_of(const ActionSnapshot& action) {
  auto scopes = action.scopes;
  if (scopes && has(*scopes, name_of(AnswerScope::session)))
    scopes->emplace_back(name_of(AnswerScope::channel));
  return scopes;
}

std::string params_of(const ChannelId& channel, const ActionSnapshot& action,
                      std::string_view record) {
  std::string out = to_json(RequestHead{.channel_id = channel,
                                        .action_id = action.action_id,
                                        .action_type = action.action_type,
                                        .prompt = action.prompt,
                                        .schema = action.schema,
                                        .decisions = action.decisions,
                                        .scopes = scopes_of(action),
                                        .digest = action.digest,
                                        .expires_at = action.expires_at});
  out.back() = ',';
  out += R"("action":)";
  out += record;
  return out + "}";
}

// After these, the action is not open any more, so asking again is pointless.
bool is_over(const Error& error) {
  return error.code == Code::conflict || error.code == Code::expired ||
         error.code == Code::not_found;
}

}  // namespace

std::string about_action(const ChannelId& channel, const ActionId& action, const Error* error) {
  std::string out = R"({"channelId":)";
  write_string(out, channel.text());
  out += R"(,"actionId":)";
  write_string(out, action.text());
  if (error) {
    out += R"(,"error":)";
    write_error(out, *error);
  }
  return out + "}";
}

void PermissionBridge::update(const SessionId& session) {
  const auto peers = deciding_(session);
  if (peers.empty()) return;
  if (const auto [at, fresh] = reading_.try_emplace(session); !fresh) {
    at->second.again = true;
    return;
  }
  const AttachmentPtr& reader = peers.front();
  auto allowed = Authorization::command(
      reader->identity.get(),
      ListActions{
          .session_id = session, .include_resolved = {}, .limit = kOpenActionsMax, .cursor = {}},
      {});
  if (!allowed) {  // its token cannot read any more, and its connection is about to end
    reading_.erase(session);
    return;
  }
  sink_.call(*std::move(allowed), [this, inbox = inbox_, session](ports::Reply reply) {
    inbox->post([this, session, reply = std::move(reply)] { listed(session, reply); });
  });
}

void PermissionBridge::listed(const SessionId& session, const ports::Reply& reply) {
  const bool again =
      reading_.at(session).again || (!reply && reply.error().code == Code::overloaded);
  reading_.erase(session);
  ActionList list;
  if (reply && from_json(*reply, list, Unknown::ignore)) {
    for (const AttachmentPtr& attachment : deciding_(session)) {
      std::vector<ActionRequest> open;
      for (const Json& record : list.data) {
        ActionRequest request;
        if (!from_json(record.text, request.action, Unknown::ignore)) continue;
        request.params = params_of(attachment->id, request.action, record.text);
        open.push_back(std::move(request));
      }
      compare(attachment, open);
    }
  }
  if (again) update(session);
}

void PermissionBridge::compare(const AttachmentPtr& attachment,
                               const std::vector<ActionRequest>& open) {
  const auto peer = attachment->peer.lock();
  if (!peer) return;
  std::vector<ActionId> gone;
  for (const auto& [id, asked] : attachment->asked)
    if (std::ranges::none_of(open, [&](const auto& each) { return each.action.action_id == id; }))
      gone.push_back(id);
  for (const ActionId& id : gone) {
    const bool own = attachment->asked.at(id).answering;
    attachment->asked.erase(id);
    if (!own) peer->cancel_action(attachment->id, id);
  }
  for (const ActionRequest& request : open)
    if (!attachment->asked.contains(request.action.action_id)) ask(attachment, request);
}

void PermissionBridge::ask(const AttachmentPtr& attachment, ActionRequest request) {
  const auto peer = attachment->peer.lock();
  if (!peer) return;
  Attachment::Asked& asked = attachment->asked[request.action.action_id];
  asked.request = std::move(request);
  asked.answering = false;
  peer->request_action(attachment->id, asked.request);
}

void PermissionBridge::answering(Attachment& attachment, const ActionId& action) {
  if (const auto at = attachment.asked.find(action); at != attachment.asked.end())
    at->second.answering = true;
}

void PermissionBridge::answer(const AttachmentPtr& attachment, const ActionId& action,
                              std::string_view result) {
  const auto asked = attachment->asked.find(action);
  if (asked == attachment->asked.end()) return;  // withdrawn meanwhile
  Answer given;
  if (auto read = from_json(result, given, Unknown::refuse); !read)
    return refused(attachment, action, read.error());
  asked->second.answering = true;
  auto allowed = Authorization::command(attachment->identity.get(),
                                        RespondAction{.action_id = action,
                                                      .decision = given.decision,
                                                      .digest = asked->second.request.action.digest,
                                                      .payload = given.payload,
                                                      .scope = given.scope,
                                                      .rule = given.rule,
                                                      .reason = given.reason,
                                                      .idempotency_key = {}},
                                        attachment->origin);
  if (!allowed) return refused(attachment, action, allowed.error());
  sink_.call(*std::move(allowed),
             [inbox = inbox_, to = std::weak_ptr(attachment), action](ports::Reply reply) {
               inbox->post([to, action, reply = std::move(reply)] {
                 const auto attachment = to.lock();
                 if (!attachment) return;
                 if (!reply) return refused(attachment, action, reply.error());
                 attachment->asked.erase(action);
               });
             });
}

void PermissionBridge::refused(const AttachmentPtr& attachment, const ActionId& action,
                               const Error& error) {
  const auto peer = attachment->peer.lock();
  const auto asked = attachment->asked.find(action);
  if (peer) peer->action_refused(attachment->id, action, error);
  if (!peer || asked == attachment->asked.end()) return;
  asked->second.answering = false;
  if (is_over(error) || ++asked->second.refusals >= kAskedAgainMax) return;
  ActionRequest again = asked->second.request;
  ask(attachment, std::move(again));
}

}  // namespace agentrt::channels
