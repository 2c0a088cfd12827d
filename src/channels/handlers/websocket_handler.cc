#include <algorithm>

#include <fmt/format.h>

#include "base/websocket.h"
#include "channels/handlers/handlers.h"
#include "channels/request_checks.h"
#include "channels/websocket/websocket_session.h"

namespace agentrt::channels {

using schema::Transport;

namespace {

bool is_websocket(std::string_view upgrade) {
  return std::ranges::equal(upgrade, std::string_view("websocket"), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b;
  });
}

Result<void> check_handshake(const Head& head) {
  if (head.method != Method::get || head.http_1_0 || !is_websocket(head.upgrade) ||
      !websocket::is_key(head.websocket_key))
    return fail(Code::invalid_params,
                "this route speaks WebSocket: send Upgrade: websocket with a Sec-WebSocket-Key");
  if (head.websocket_version != "13")
    return fail(Code::invalid_params, "Sec-WebSocket-Version: expected 13");
  return {};
}

std::string handshake_reply(const Head& head) {
  std::string out = fmt::format(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Accept: {}\r\n",
      websocket::accept_of(head.websocket_key));
  // Never echoes the token.
  if (names_protocol(head.websocket_protocols))
    out += fmt::format("Sec-WebSocket-Protocol: {}\r\n", kWebSocketProtocol);
  return out + "\r\n";
}

}  // namespace

void get_websocket(Services& services, const ExchangePtr& exchange) {
  const Head& head = exchange->request.head;
  if (const auto good = check_handshake(head); !good)
    return exchange->respond(error_response(good.error()));
  WebSocketPeer peer{exchange->identity, origin_of(head)};
  peer.origin.request = {};  // each command gets its own
  peer.origin.channel = {};  // each command goes over the channel of its session
  const bool relayed = exchange->local && head.transport == schema::name_of(Transport::stdio);
  peer.origin.transport = relayed ? Transport::stdio : Transport::websocket;
  peer.origin.connection = std::make_shared<ports::ConnectionChannels>();
  exchange->upgrade(handshake_reply(head), [&services, peer](UpgradedPipe& pipe) {
    return std::make_shared<WebSocketSession>(pipe, services, peer);
  });
}

}  // namespace agentrt::channels
