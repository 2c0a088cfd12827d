#include "cli/mcp/messages.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "base/random_bytes.h"
#include "schema/json_loose.h"
#include "schema/json_member.h"

namespace agentrt::cli {
namespace {

struct Members {
  std::optional<schema::Json> id;
  std::optional<std::string> method;
  std::optional<schema::Json> params;
  std::optional<schema::Json> result;
  std::optional<schema::Json> error;
};
BOOST_DESCRIBE_STRUCT(Members, (), (id, method, params, result, error))

struct Call {
  std::string name;
  std::optional<schema::Json> arguments;
};
BOOST_DESCRIBE_STRUCT(Call, (), (name, arguments))

struct TurnArguments {
  std::optional<schema::Json> idempotency_key;
};
BOOST_DESCRIBE_STRUCT(TurnArguments, (), (idempotency_key))

struct Cancelled {
  std::optional<schema::Json> request_id;
};
BOOST_DESCRIBE_STRUCT(Cancelled, (), (request_id))

std::string json_text(std::string_view text) {
  std::string out;
  schema::write_string(out, text);
  return out;
}

}  // namespace

std::optional<McpLine> read_mcp_line(std::string_view text) {
  Members members;
  schema::Met met;
  if (!schema::check_json(text) || !schema::read_loosely(text, members, met)) return std::nullopt;
  McpLine out;
  if (members.id) out.id = members.id->text;
  out.method = std::move(members.method);
  out.params = std::move(members.params);
  out.result = std::move(members.result);
  out.error = std::move(members.error);
  if (!out.method && !out.id) return std::nullopt;
  return out;
}

std::string with_raw_id(const McpLine& message, std::string_view json) {
  std::string out = fmt::format(R"({{"jsonrpc":"2.0","id":{})", json);
  if (message.method) out += fmt::format(R"(,"method":{})", json_text(*message.method));
  if (message.params) out += fmt::format(R"(,"params":{})", message.params->text);
  if (message.result) out += fmt::format(R"(,"result":{})", message.result->text);
  if (message.error) out += fmt::format(R"(,"error":{})", message.error->text);
  return out + "}";
}

std::string with_id(const McpLine& message, std::string_view id) {
  return with_raw_id(message, json_text(id));
}

std::string unquoted(std::string_view json) {
  if (json.size() < 2 || !json.starts_with('"')) return std::string(json);
  return schema::unescaped(json.substr(1, json.size() - 2));
}

std::optional<std::string> own_id(std::string_view json, std::uint64_t generation) {
  const std::string id = unquoted(json);
  const std::string prefix = fmt::format("{}-", generation);
  if (!id.starts_with(prefix)) return std::nullopt;
  return id.substr(prefix.size());
}

std::optional<std::string> with_turn_key(const McpLine& message) {
  Call call;
  schema::Met met;
  if (message.method != "tools/call" || !message.params ||
      !schema::read_loosely(message.params->text, call, met) || call.name != "run_turn" ||
      !call.arguments || !call.arguments->text.starts_with('{'))
    return std::nullopt;
  TurnArguments arguments;
  met.clear();
  if (!schema::read_loosely(call.arguments->text, arguments, met) || arguments.idempotency_key)
    return std::nullopt;
  const std::string_view text = call.arguments->text;
  const bool empty = text.find_first_not_of(" \t\r\n", 1) == text.find('}');
  std::string params =
      fmt::format(R"({{"name":"run_turn","arguments":{{"idempotencyKey":"stdio-{}"{}{})",
                  hex(random_bytes(16)), empty ? "" : ",", text.substr(1));
  if (const auto meta = schema::member_of(message.params->text, "_meta"))
    params += fmt::format(R"(,"_meta":{})", meta->text);
  McpLine keyed = message;
  keyed.params = schema::Json{params + "}"};
  return with_raw_id(keyed, message.id.value_or("null"));
}

std::string mcp_error_line(std::string_view id, std::string_view why, int number) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{{"code":{},"message":{}}}}})", id,
                     number, json_text(why));
}

std::string cancelled_line(std::string_view id) {
  return fmt::format(
      R"({{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{},)"
      R"("reason":"it was answered elsewhere, or the runtime has changed"}}}})",
      json_text(id));
}

std::optional<std::string> cancelled_request(const McpLine& message) {
  Cancelled cancelled;
  schema::Met met;
  if (!message.params || !schema::read_loosely(message.params->text, cancelled, met) ||
      !cancelled.request_id)
    return std::nullopt;
  return cancelled.request_id->text;
}

}  // namespace agentrt::cli
