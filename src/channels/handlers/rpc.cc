#include "channels/handlers/rpc.h"

#include <fmt/format.h>

#include "channels/limits.h"
#include "schema/codec.h"
#include "schema/json_members.h"

namespace agentrt::channels {
namespace {

using schema::Json;

// Members as text: their types are checked here, to report JSON-RPC's own error numbers.
struct CallText {
  std::optional<Json> jsonrpc;
  std::optional<Json> id;
  std::optional<Json> method;
  std::optional<Json> params;
};
BOOST_DESCRIBE_STRUCT(CallText, (), (jsonrpc, id, method, params))

struct ResponseText {
  std::optional<Json> id;
  std::optional<Json> method;
  std::optional<Json> result;
  std::optional<Json> error;
};
BOOST_DESCRIBE_STRUCT(ResponseText, (), (id, method, result, error))

struct BatchText {
  std::vector<Json> calls;
};
BOOST_DESCRIBE_STRUCT(BatchText, (), (calls))

constexpr std::string_view kNoId = "null";

RpcCall faulty(std::string_view id, int number, Code code, std::string message) {
  return {.id = std::string(id),
          .method = {},
          .params = {},
          .fault = rpc_error(id, Error{code, std::move(message), {}}, number)};
}

RpcCall invalid(std::string_view id, std::string message) {
  return faulty(id, kRpcInvalidRequest, Code::invalid_params, std::move(message));
}

bool is_id(std::string_view text) {
  const char c = text.front();
  return c == '"' || c == '-' || (c >= '0' && c <= '9') || text == "null";
}

RpcCall read_call(std::string_view text) {
  CallText call;
  if (!text.starts_with('{') || !schema::from_json(text, call, schema::Unknown::ignore))
    return invalid(kNoId, "a call must be an object");
  // Reject repeated members: different parsers could pick different ones.
  if (const auto name = schema::repeated_member(text))
    return invalid(kNoId, fmt::format("{}: given twice", *name));
  if (call.id && !is_id(call.id->text)) return invalid(kNoId, "id: expected a string or a number");
  const std::string id = call.id ? call.id->text : "";
  const std::string_view told = call.id ? std::string_view(id) : kNoId;
  if (!call.jsonrpc || call.jsonrpc->text != R"("2.0")")
    return invalid(told, R"(jsonrpc: expected "2.0")");
  if (!call.method || !call.method->text.starts_with('"'))
    return invalid(told, "method: expected a string");
  if (call.params && !call.params->text.starts_with('{')) {
    if (id.empty()) return {};
    return faulty(id, kRpcInvalidParams, Code::invalid_params, "params: expected an object");
  }
  const std::string& quoted = call.method->text;
  return {.id = id,
          .method = quoted.substr(1, quoted.size() - 2),
          .params = call.params ? std::move(call.params->text) : "{}",
          .fault = {}};
}

}  // namespace

std::optional<RpcResponse> read_rpc_response(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \t\r\n");
  ResponseText response;
  if (from == std::string_view::npos || text[from] != '{' || !schema::check_json(text))
    return std::nullopt;
  if (!schema::from_json(text, response, schema::Unknown::ignore)) return std::nullopt;
  if (!response.id || response.method || (!response.result && !response.error)) return std::nullopt;
  RpcResponse out{std::move(response.id->text), {}};
  if (response.result && !response.error) out.result = std::move(response.result->text);
  return out;
}

RpcMessage read_rpc(std::string_view text) {
  if (const auto valid = schema::check_json(text); !valid)
    return {RpcMessage::Shape::single,
            {faulty(kNoId, kRpcParseError, Code::invalid_params, valid.error().message)}};
  const std::size_t from = text.find_first_not_of(" \t\r\n");
  text.remove_prefix(std::min(from, text.size()));
  if (!text.starts_with('[')) return {RpcMessage::Shape::single, {read_call(text)}};
  BatchText batch;
  const std::string wrapped = fmt::format(R"({{"calls":{}}})", text);
  if (!schema::from_json(wrapped, batch, schema::Unknown::ignore) || batch.calls.empty())
    return {RpcMessage::Shape::single, {invalid(kNoId, "a batch must have at least one call")}};
  if (batch.calls.size() > kRpcBatchMax)
    return {RpcMessage::Shape::single,
            {faulty(kNoId, kRpcInvalidRequest, Code::limit_exceeded,
                    fmt::format("a batch can have at most {} calls", kRpcBatchMax))}};
  RpcMessage out{RpcMessage::Shape::batch, {}};
  for (const Json& call : batch.calls) out.calls.push_back(read_call(call.text));
  return out;
}

std::string rpc_request(std::string_view id, std::string_view method, std::string_view params) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})", id, method,
                     params);
}

std::string rpc_notification(std::string_view method, std::string_view params) {
  return fmt::format(R"({{"jsonrpc":"2.0","method":"{}","params":{}}})", method, params);
}

std::string rpc_result(std::string_view id, std::string_view result) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", id, result);
}

std::string rpc_error(std::string_view id, const Error& error, int number) {
  std::string out =
      fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{{"code":{},"message":)", id, number);
  schema::write_string(out, error.message);
  out += R"(,"data":{"code":)";
  schema::write_string(out, code_name(error.code));
  if (!error.details.empty()) {
    out += R"(,"details":)";
    out += error.details;
  }
  out += "}}}";
  return out;
}

std::string rpc_error(std::string_view id, const Error& error) {
  return rpc_error(id, error, error.code == Code::invalid_params ? kRpcInvalidParams : kRpcRefused);
}

std::string join_replies(RpcMessage::Shape shape, const std::vector<std::string>& replies) {
  std::string out;
  for (const std::string& reply : replies) {
    if (reply.empty()) continue;
    if (!out.empty()) out += ',';
    out += reply;
  }
  if (shape == RpcMessage::Shape::batch && !out.empty()) {
    out.insert(out.begin(), '[');
    out += ']';
  }
  return out;
}

}  // namespace agentrt::channels
