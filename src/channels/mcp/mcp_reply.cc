#include "channels/mcp/mcp_reply.h"

#include <fmt/format.h>

#include "channels/handlers/rpc.h"

namespace agentrt::channels {
namespace {

struct ToldAction {
  ActionId action_id;
  std::string action_type;
  std::optional<std::string> prompt;
  std::optional<std::string> tool_name;
  std::optional<std::vector<std::string>> decisions;
  std::optional<Timestamp> expires_at;
  std::string how_to_answer;
};
BOOST_DESCRIBE_STRUCT(ToldAction, (),
                      (action_id, action_type, prompt, tool_name, decisions, expires_at,
                       how_to_answer))

struct ToldTurn {
  SessionId session_id;
  ThreadId thread_id;
  TurnId turn_id;
  schema::Status status = schema::Status::accepted;
  std::string text;
  std::optional<std::string> text_ref;
  std::optional<schema::Failure> error;
  std::vector<ToldAction> actions;
};
BOOST_DESCRIBE_STRUCT(ToldTurn, (),
                      (session_id, thread_id, turn_id, status, text, text_ref, error, actions))

std::string json_text(std::string_view text) {
  std::string out;
  schema::write_string(out, text);
  return out;
}

// What a model reads that ignores structured content.
std::string words_of(const ToldTurn& turn) {
  using schema::Status;
  std::string out = turn.text;
  const auto add = [&](std::string_view text) {
    if (!out.empty()) out += "\n\n";
    out += text;
  };
  for (const ToldAction& action : turn.actions)
    add(fmt::format("The turn waits for a decision: {} ({}; {})", action.prompt.value_or(""),
                    action.action_id.text(), action.how_to_answer));
  if (turn.error) add(fmt::format("The turn failed: {}", turn.error->message));
  if (turn.text_ref)
    add(fmt::format("The answer is longer; all of it is at GET /v1/outputs/{}", *turn.text_ref));
  if (turn.actions.empty() && !schema::ended(turn.status))
    add(fmt::format("The turn is not finished (status {}); ask again with get_turn, turnId {}",
                    schema::name_of(turn.status), turn.turn_id.text()));
  if (out.empty()) out = fmt::format("The turn has ended: {}", schema::name_of(turn.status));
  return out;
}

}  // namespace

std::string turn_tool_result(const TurnResult& result) {
  ToldTurn told{.session_id = result.session,
                .thread_id = result.turn.thread_id,
                .turn_id = result.turn.turn_id,
                .status = result.turn.status,
                .text = result.text,
                .text_ref = result.text_ref,
                .error = result.turn.error,
                .actions = {}};
  for (const schema::ActionSnapshot& action : result.actions)
    told.actions.push_back({.action_id = action.action_id,
                            .action_type = action.action_type,
                            .prompt = action.prompt,
                            .tool_name = action.tool_name,
                            .decisions = action.decisions,
                            .expires_at = action.expires_at,
                            .how_to_answer = how_to_answer(action)});
  const bool failed = told.status == schema::Status::failed ||
                      told.status == schema::Status::timed_out ||
                      told.status == schema::Status::lost;
  return fmt::format(
      R"({{"content":[{{"type":"text","text":{}}}],"structuredContent":{},"isError":{}}})",
      json_text(words_of(told)), schema::to_json(told), failed);
}

std::string failed_tool_result(const Error& error) {
  return fmt::format(R"({{"content":[{{"type":"text","text":{}}}],"isError":true}})",
                     json_text(fmt::format("{}: {}", code_name(error.code), error.message)));
}

bool is_wrong_call(const Error& error) {
  return error.code == Code::invalid_params || error.code == Code::idempotency_conflict ||
         error.code == Code::binding_mismatch;
}

std::string mcp_error(std::string_view id, int number, std::string_view message) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{{"code":{},"message":{}}}}})",
                     id.empty() ? "null" : id, number, json_text(message));
}

}  // namespace agentrt::channels
