// adapters/mcp/rpc.h: parses and writes JSON-RPC 2.0 messages.
//
// Params and results are kept as raw JSON text. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/codec.h"

namespace agentrt::adapters {

inline constexpr std::size_t kRpcBatchMax = 256;  // messages per batch

inline constexpr std::int64_t kRpcInvalidParams = -32'602;
inline constexpr std::int64_t kRpcNoSuchMethod = -32'601;

struct RpcError {
  std::int64_t code = 0;
  std::string message;
};
BOOST_DESCRIBE_STRUCT(RpcError, (), (code, message))

// A request has a method and an id, a notification only a method, an answer an id and a result or
// an error. An error about an unparsable message has no id.
struct RpcMessage {
  std::string method;
  std::optional<schema::Json> id;  // a number or string, unchanged
  std::optional<schema::Json> params;
  std::optional<schema::Json> result;
  std::optional<RpcError> error;

  bool is_answer() const { return method.empty(); }
};
BOOST_DESCRIBE_STRUCT(RpcMessage, (), (method, id, params, result, error))

// Parses one message or an array of messages. Errors: invalid_params.
Result<std::vector<RpcMessage>> read_rpc(std::string_view text);
// The number of an id that this client assigned; empty for any other id.
std::optional<std::uint64_t> number_of(const schema::Json& id);

// Encodes a text as a JSON string.
std::string as_json(std::string_view text);

// `params` and `result` are JSON texts.
std::string rpc_request(std::uint64_t id, std::string_view method, std::string_view params);
std::string rpc_notification(std::string_view method, std::string_view params);
std::string rpc_result(const schema::Json& id, std::string_view result);
std::string rpc_error(const schema::Json& id, std::int64_t code, std::string_view message);

}  // namespace agentrt::adapters
