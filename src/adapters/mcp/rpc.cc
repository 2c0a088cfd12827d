#include "adapters/mcp/rpc.h"

#include <charconv>

#include <fmt/format.h>

#include "schema/json_loose.h"

namespace agentrt::adapters {
namespace {

struct Batch {
  std::vector<schema::Json> all;
};
BOOST_DESCRIBE_STRUCT(Batch, (), (all))

Result<RpcMessage> read_one(std::string_view text) {
  RpcMessage message;
  schema::Met met;
  if (!schema::read_loosely(text, message, met))
    return fail(Code::invalid_params, "a message must be an object");
  const bool whole = message.is_answer() ? message.error || (message.id && message.result)
                                         : !message.result && !message.error;
  if (!whole) return fail(Code::invalid_params, "the message is neither a request nor a response");
  return message;
}

}  // namespace

Result<std::vector<RpcMessage>> read_rpc(std::string_view text) {
  TRY(schema::check_json(text));
  std::vector<RpcMessage> out;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '[') {
    TRY_ASSIGN(RpcMessage message, read_one(text));
    out.push_back(std::move(message));
    return out;
  }
  Batch batch;
  TRY(schema::from_json(fmt::format(R"({{"all":{}}})", text), batch, schema::Unknown::ignore));
  if (batch.all.size() > kRpcBatchMax)
    return fail(Code::invalid_params,
                fmt::format("a batch has more than {} messages", kRpcBatchMax));
  for (const schema::Json& each : batch.all) {
    TRY_ASSIGN(RpcMessage message, read_one(each.text));
    out.push_back(std::move(message));
  }
  return out;
}

std::optional<std::uint64_t> number_of(const schema::Json& id) {
  std::uint64_t number = 0;
  const char* const end = id.text.data() + id.text.size();
  const auto [stop, error] = std::from_chars(id.text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

std::string as_json(std::string_view text) {
  std::string out;
  schema::write_string(out, text);
  return out;
}

std::string rpc_request(std::uint64_t id, std::string_view method, std::string_view params) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})", id, method,
                     params);
}

std::string rpc_notification(std::string_view method, std::string_view params) {
  return fmt::format(R"({{"jsonrpc":"2.0","method":"{}","params":{}}})", method, params);
}

std::string rpc_result(const schema::Json& id, std::string_view result) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", id.text, result);
}

std::string rpc_error(const schema::Json& id, std::int64_t code, std::string_view message) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{{"code":{},"message":{}}}}})", id.text,
                     code, as_json(message));
}

}  // namespace agentrt::adapters
