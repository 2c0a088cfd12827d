// channels/handlers/rpc.h: JSON-RPC 2.0, independent of its transport. Pure.
//
// The method is a command's name and the params are its params. Replies keep the order of the
// requests; a call without an id is a notification and gets no reply. error.data.code holds the
// runtime's own error code, in addition to the number that JSON-RPC requires.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace agentrt::channels {

inline constexpr int kRpcParseError = -32700;
inline constexpr int kRpcInvalidRequest = -32600;
inline constexpr int kRpcMethodNotFound = -32601;
inline constexpr int kRpcInvalidParams = -32602;
inline constexpr int kRpcRefused = -32000;

struct RpcCall {
  std::string id;  // as received; empty for a notification
  std::string method;
  std::string params;  // JSON text
  std::string fault;   // the reply to an invalid call; method and params are then empty
};

struct RpcMessage {
  enum class Shape { single, batch };
  Shape shape = Shape::single;
  std::vector<RpcCall> calls;  // never empty
};

// A response to a request of ours.
struct RpcResponse {
  std::string id;                     // as sent
  std::optional<std::string> result;  // JSON text; absent: it is an error
};
// nullopt: the text is something else. A response is an object with an id and a result or an error,
// and no method.
std::optional<RpcResponse> read_rpc_response(std::string_view text);

// Never fails: invalid input becomes a call with a fault.
RpcMessage read_rpc(std::string_view text);

// A request. `id`: a JSON value; `params`: a JSON object.
std::string rpc_request(std::string_view id, std::string_view method, std::string_view params);
// A notification. `params`: a JSON object.
std::string rpc_notification(std::string_view method, std::string_view params);
std::string rpc_result(std::string_view id, std::string_view result);
// Uses the JSON-RPC number for `error`, as the outcome of a known method.
std::string rpc_error(std::string_view id, const Error& error);
std::string rpc_error(std::string_view id, const Error& error, int number);

// Joins the replies of a message; empty if there are none. Empty replies are omitted.
std::string join_replies(RpcMessage::Shape shape, const std::vector<std::string>& replies);

}  // namespace agentrt::channels
