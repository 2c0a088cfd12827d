#include "channels/mcp/mcp_forms.h"

#include <algorithm>

#include <fmt/format.h>

#include "schema/facts/permission.h"
#include "schema/json_loose.h"

namespace agentrt::channels {
namespace {

using schema::ActionSnapshot;

struct Result {
  std::string action;
  std::optional<schema::Json> content;
};
BOOST_DESCRIBE_STRUCT(Result, (), (action, content))

struct Decided {
  std::string decision;
};
BOOST_DESCRIBE_STRUCT(Decided, (), (decision))

std::string json_text(std::string_view text) {
  std::string out;
  schema::write_string(out, text);
  return out;
}

bool offers(const ActionSnapshot& action, std::string_view decision) {
  const auto& decisions = action.decisions;
  return decisions && std::ranges::find(*decisions, decision) != decisions->end();
}

// Questions with these decisions are about yes or no.
bool is_permission(const ActionSnapshot& action) {
  return offers(action, "allow") && offers(action, "deny");
}

std::string message_of(const ActionSnapshot& action) {
  std::string out = action.prompt.value_or("A decision is needed.");
  if (action.input) out += "\n\n" + action.input->text;
  if (action.reason) out += "\n\n" + *action.reason;
  if (action.impact) out += "\n\nImpact: " + *action.impact;
  if (action.rollback) out += "\nTo undo: " + *action.rollback;
  return out;
}

}  // namespace

std::optional<std::string> form_of(const ActionSnapshot& action) {
  if (action.url) return std::nullopt;
  std::string schema;
  if (is_permission(action))
    schema =
        R"({"type":"object","required":["decision"],"properties":{"decision":{"type":"string",)"
        R"("title":"Decision","enum":["allow","deny"]}}})";
  else if (action.schema && (offers(action, "answer") || offers(action, "accept")))
    schema = action.schema->text;
  if (schema.empty()) return std::nullopt;
  return fmt::format(R"({{"mode":"form","message":{},"requestedSchema":{}}})",
                     json_text(message_of(action)), schema);
}

std::optional<FormAnswer> answer_in(const ActionSnapshot& action, const schema::Json& result) {
  Result read;
  schema::Met met;
  if (!schema::read_loosely(result.text, read, met)) return std::nullopt;
  if (read.action == "decline" && is_permission(action)) return FormAnswer{"deny", {}};
  if (read.action == "decline" && offers(action, "decline")) return FormAnswer{"decline", {}};
  if (read.action == "decline" && offers(action, "cancel")) return FormAnswer{"cancel", {}};
  if (read.action != "accept" || !read.content) return std::nullopt;
  if (!is_permission(action))
    return FormAnswer{offers(action, "accept") ? "accept" : "answer", read.content};
  Decided decided;
  met.clear();
  if (!schema::read_loosely(read.content->text, decided, met)) return std::nullopt;
  if (decided.decision != "allow" && decided.decision != "deny") return std::nullopt;
  return FormAnswer{decided.decision, {}};
}

}  // namespace agentrt::channels
