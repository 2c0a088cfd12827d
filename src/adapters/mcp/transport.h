// adapters/mcp/transport.h: the interface of a transport, which carries messages to an MCP server
// and back.
//
// Threads: everything runs on one loop. The listener is never called within open(), send() or
// close(), and not at all after close(). on_closed() is the last call.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace agentrt::adapters {

inline constexpr std::size_t kMcpMessageBytesMax = 16 << 20;  // a longer one ends the connection
inline constexpr std::size_t kMcpReasonBytesMax = 512;        // kept of a server's last output

class TransportListener {
 public:
  virtual ~TransportListener() = default;
  // `within`: our request in whose answer stream the message arrived, if the transport knows.
  virtual void on_message(std::string text, std::optional<std::uint64_t> within) = 0;
  // The transport failed to deliver this request; no answer will follow.
  virtual void on_refused(std::uint64_t request, Error why) = 0;
  // The server sent something that is not a message.
  virtual void on_garbage() = 0;
  // `refused`: our requests that the server certainly did not process.
  // Code::unauthenticated: a person must log in.
  virtual void on_closed(Error why, std::vector<std::uint64_t> refused) = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual void open() = 0;
  // `request`: the request's id, if the message is a request.
  virtual void send(std::string message, std::optional<std::uint64_t> request) = 0;
  // answered(): the answer to the request has arrived. forget(): the request was abandoned.
  virtual void answered(std::uint64_t request) = 0;
  virtual void forget(std::uint64_t request) = 0;
  // The handshake succeeded with this protocol version.
  virtual void agreed(std::string_view protocol) = 0;
  // Closes the connection gracefully, within a bounded time, then calls `closed` once, on the loop.
  virtual void close(std::move_only_function<void()> closed) = 0;
};

}  // namespace agentrt::adapters
