// tests/fuzz/channel_fuzz.cc: libFuzzer on what peers of GET /v1/ws send: WebSocket frames, and the
// JSON-RPC in them. Any input must end in messages, in a close code, or in a reply.
//
// The first byte chooses the side of the reader and how the rest is cut into receptions, so that
// every split is tried.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/websocket.h"
#include "channels/handlers/rpc.h"
#include "schema/json.h"

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

void read_rpc(std::string_view text) {
  using namespace agentrt;
  if (channels::read_rpc_response(text)) return;
  const channels::RpcMessage message = channels::read_rpc(text);
  must(!message.calls.empty());
  std::vector<std::string> replies;
  for (const channels::RpcCall& call : message.calls) {
    must(call.fault.empty() != call.method.empty());
    replies.push_back(call.fault.empty() && !call.id.empty() ? channels::rpc_result(call.id, "{}")
                                                             : call.fault);
  }
  const std::string reply = channels::join_replies(message.shape, replies);
  must(reply.empty() || schema::check_json(reply).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace agentrt::websocket;
  if (size == 0) return 0;
  const std::uint8_t choice = data[0];
  std::string_view rest(reinterpret_cast<const char*>(data + 1), size - 1);
  if (choice % 4 == 3) {
    read_rpc(rest);
    return 0;
  }
  Reader reader(choice % 2 == 0 ? Side::server : Side::client, 1 << 16);
  const std::size_t step = 1 + choice / 4;
  while (!rest.empty()) {
    std::vector<Message> messages;
    const auto read = reader.put(rest.substr(0, step), messages);
    for (const Message& message : messages) {
      must(message.payload.size() <= (1 << 16));
      if (message.opcode != Opcode::text) continue;
      must(is_utf8(message.payload));
      read_rpc(message.payload);
    }
    if (!read) return 0;
    rest.remove_prefix(std::min(step, rest.size()));
  }
  return 0;
}
