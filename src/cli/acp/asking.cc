// Questions of turns, as dialogs of the editor. The first answer from any client wins.
#include <algorithm>

#include <fmt/format.h>

#include "cli/acp/agent.h"
#include "cli/views/session_view.h"
#include "schema/json_loose.h"

namespace agentrt::cli {
namespace {

using schema::ActionRequired;

struct Outcome {
  std::string outcome;
  std::optional<std::string> option_id;
};
BOOST_DESCRIBE_STRUCT(Outcome, (), (outcome, option_id))

struct PermissionAnswer {
  std::optional<Outcome> outcome;
};
BOOST_DESCRIBE_STRUCT(PermissionAnswer, (), (outcome))

struct FormAnswer {
  std::string action;
  std::optional<schema::Json> content;
};
BOOST_DESCRIBE_STRUCT(FormAnswer, (), (action, content))

struct AnswerProperty {
  std::optional<std::vector<std::string>> enum_;
};
BOOST_DESCRIBE_STRUCT(AnswerProperty, (), (enum_))

struct AnswerProperties {
  std::optional<AnswerProperty> answer;
};
BOOST_DESCRIBE_STRUCT(AnswerProperties, (), (answer))

struct AnswerSchema {
  std::optional<AnswerProperties> properties;
};
BOOST_DESCRIBE_STRUCT(AnswerSchema, (), (properties))

bool offers(const std::optional<std::vector<std::string>>& list, std::string_view word) {
  return list && std::ranges::find(*list, word) != list->end();
}

std::string option(std::string_view id, std::string_view name, std::string_view kind) {
  return fmt::format(R"({{"optionId":{},"name":{},"kind":"{}"}})", json_text(id), json_text(name),
                     kind);
}

// The choices of a question; empty: any text.
std::vector<std::string> choices_of(const ActionRequired& required) {
  AnswerSchema schema;
  schema::Met met;
  if (!required.schema || !schema::read_loosely(required.schema->text, schema, met) ||
      !schema.properties || !schema.properties->answer)
    return {};
  return schema.properties->answer->enum_.value_or(std::vector<std::string>{});
}

}  // namespace

void AcpAgent::ask(const SessionId& session, Opened& opened, const ActionId& action,
                   const ToolCallId& call, const ActionRequired& required) {
  if (opened.asked.contains(action)) return;
  if (offers(required.decisions, "allow") && offers(required.decisions, "deny"))
    return ask_permission(session, opened, action, call, required);
  ask_question(session, opened, action, call, required);
}

void AcpAgent::ask_permission(const SessionId& session, Opened& opened, const ActionId& action,
                              const ToolCallId& call, const ActionRequired& required) {
  std::vector<std::string> options = {option("once", "Allow once", "allow_once")};
  if (offers(required.scopes, "session"))
    options.push_back(option("session", "Allow for this session", "allow_always"));
  if (offers(required.scopes, "always"))
    options.push_back(option("always", "Always allow", "allow_always"));
  options.push_back(option("reject", "Reject", "reject_once"));
  const std::string params = fmt::format(
      R"({{"sessionId":"{}","toolCall":{},"options":[{}]}})", session.text(),
      opened.updates->tool_call_of(call, required, action.text()), fmt::join(options, ","));
  opened.asked[action] = editor_.request(
      "session/request_permission", params,
      [this, session, action, digest = required.digest](std::optional<schema::Json> result) {
        const auto found = sessions_.find(session);
        if (found != sessions_.end()) found->second.asked.erase(action);
        PermissionAnswer answer;
        schema::Met met;
        if (!result || !schema::read_loosely(result->text, answer, met) || !answer.outcome ||
            !answer.outcome->option_id)
          return;  // the question stays open
        const std::string& chosen = *answer.outcome->option_id;
        if (chosen == "reject") return respond(action, "deny", digest, {}, {});
        respond(action, "allow", digest,
                chosen == "session" || chosen == "always" ? std::optional(chosen) : std::nullopt,
                {});
      });
}

// By a form or link if the editor has them, else choices as options; a free text has to be given
// elsewhere.
void AcpAgent::ask_question(const SessionId& session, Opened& opened, const ActionId& action,
                            const ToolCallId& call, const ActionRequired& required) {
  const std::string prompt = required.prompt.value_or("The agent asks.");
  const bool accepts = offers(required.decisions, "accept");
  const std::string tool_call =
      call.empty() ? "" : fmt::format(R"(,"toolCallId":{})", json_text(call.text()));
  std::string params;
  if (required.url && urls_)
    params = fmt::format(
        R"({{"mode":"url","sessionId":"{}"{},"elicitationId":{},"url":{},"message":{}}})",
        session.text(), tool_call, json_text(action.text()), json_text(*required.url),
        json_text(prompt));
  else if (!required.url && required.schema && forms_)
    params =
        fmt::format(R"({{"mode":"form","sessionId":"{}"{},"message":{},"requestedSchema":{}}})",
                    session.text(), tool_call, json_text(prompt), required.schema->text);
  if (!params.empty()) {
    opened.asked[action] = editor_.request(
        "elicitation/create", params,
        [this, session, action, accepts](std::optional<schema::Json> result) {
          const auto found = sessions_.find(session);
          if (found != sessions_.end()) found->second.asked.erase(action);
          FormAnswer answer;
          schema::Met met;
          if (!result || !schema::read_loosely(result->text, answer, met)) return;
          if (answer.action == "accept")
            return respond(action, accepts ? "accept" : "answer", {}, {}, answer.content);
          respond(action, accepts && answer.action == "decline" ? "decline" : "cancel", {}, {}, {});
        });
    return;
  }
  const std::vector<std::string> choices = choices_of(required);
  if (choices.empty() || accepts)
    return update(session,
                  fmt::format(R"({{"sessionUpdate":"agent_message_chunk","content":)"
                              R"({{"type":"text","text":{}}},"messageId":{}}})",
                              json_text(fmt::format("{}\n\nThis editor cannot show the question. "
                                                    "Answer it in a terminal: agentrt approve {} "
                                                    "--answer TEXT",
                                                    prompt, action.text())),
                              json_text(action.text())));
  std::vector<std::string> options;
  for (std::size_t i = 0; i < choices.size(); ++i)
    options.push_back(option(fmt::format("{}", i), choices[i], "allow_once"));
  options.push_back(option("reject", "Do not answer", "reject_once"));
  params = fmt::format(R"({{"sessionId":"{}","toolCall":{},"options":[{}]}})", session.text(),
                       opened.updates->tool_call_of(call, required, action.text()),
                       fmt::join(options, ","));
  opened.asked[action] = editor_.request(
      "session/request_permission", params,
      [this, session, action, choices](std::optional<schema::Json> result) {
        const auto found = sessions_.find(session);
        if (found != sessions_.end()) found->second.asked.erase(action);
        PermissionAnswer answer;
        schema::Met met;
        if (!result || !schema::read_loosely(result->text, answer, met) || !answer.outcome ||
            !answer.outcome->option_id)
          return;
        for (std::size_t i = 0; i < choices.size(); ++i)
          if (*answer.outcome->option_id == fmt::format("{}", i))
            return respond(action, "answer", {}, {},
                           schema::Json{fmt::format(R"({{"answer":{}}})", json_text(choices[i]))});
        respond(action, "cancel", {}, {}, {});
      });
}

void AcpAgent::respond(const ActionId& action, std::string_view decision,
                       const std::optional<std::string>& digest,
                       const std::optional<std::string>& scope,
                       const std::optional<schema::Json>& payload) {
  schema::RespondAction respond;
  respond.action_id = action;
  respond.decision = decision;
  respond.digest = digest;
  respond.payload = payload;
  if (scope) respond.scope = schema::enum_of<schema::AnswerScope>(*scope);
  respond.idempotency_key = own_key("acp answer " + action.text());
  // A refusal means that another client was faster, or that the question has changed: its facts
  // say so.
  link_.call("respond_action", schema::to_json(respond), [](Result<schema::Json>) {});
}

// The open questions of the session, after the editor or the owner has changed.
void AcpAgent::ask_open(const SessionId& session) {
  schema::ListActions list;
  list.session_id = session;
  link_.call("list_actions", schema::to_json(list), [this, session](Result<schema::Json> reply) {
    const auto found = sessions_.find(session);
    const auto page = reply ? read_list(reply->text) : std::unexpected(reply.error());
    if (found == sessions_.end() || !page) return;
    for (const schema::Json& row : page->data) {
      schema::ActionSnapshot action;
      ActionRequired required;
      if (!schema::from_json(row.text, action, schema::Unknown::ignore) ||
          !schema::from_json(row.text, required, schema::Unknown::ignore))
        continue;
      ask(session, found->second, action.action_id, action.tool_call_id.value_or(ToolCallId{}),
          required);
    }
  });
}

}  // namespace agentrt::cli
