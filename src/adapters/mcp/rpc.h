// adapters/mcp/rpc.h: messages of JSON-RPC 2.0, read and written.
//
// What stands in params and results is carried as the text it came in. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/codec.h"

namespace agentrt::adapters {

inline constexpr std::size_t kRpcBatchMax = 256;  // messages in one text

inline constexpr std::int64_t kRpcInvalidParams = -32'602;
inline constexpr std::int64_t kRpcNoSuchMethod = -32'601;

struct RpcError {
  std::int64_t code = 0;
  std::string message;
};
BOOST_DESCRIBE_STRUCT(RpcError, (), (code, message))

// A request has a method and an id, a notification a method alone, an answer an id and a result or
// an error; an error about a message that nobody could read has no id.
struct RpcMessage {
  std::string method;
  std::optional<schema::Json> id;  // a number or a text, as it came
  std::optional<schema::Json> params;
  std::optional<schema::Json> result;
  std::optional<RpcError> error;

  bool is_answer() const { return method.empty(); }
};
BOOST_DESCRIBE_STRUCT(RpcMessage, (), (method, id, params, result, error))

// One message, or several in an array. invalid_params: the text is neither.
Result<std::vector<RpcMessage>> read_rpc(std::string_view text);
// The number that an id of ours is; nothing for any other id.
std::optional<std::uint64_t> number_of(const schema::Json& id);

// A text as a JSON string.
std::string as_json(std::string_view text);

// `params` and `result` are JSON.
std::string rpc_request(std::uint64_t id, std::string_view method, std::string_view params);
std::string rpc_notification(std::string_view method, std::string_view params);
std::string rpc_result(const schema::Json& id, std::string_view result);
std::string rpc_error(const schema::Json& id, std::int64_t code, std::string_view message);

}  // namespace agentrt::adapters
