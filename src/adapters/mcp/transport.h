// adapters/mcp/transport.h: how messages reach a server and come back, whatever carries them.
//
// Thread rule: all of it on one loop. A listener is never called within open(), send() or close(),
// hears nothing once close() was called, and on_closed() is the last that it hears.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agentrt::adapters {

inline constexpr std::size_t kMcpMessageBytesMax = 16 << 20;  // one too long ends the connection
inline constexpr std::size_t kMcpReasonBytesMax = 512;        // of what a server says at its end

class TransportListener {
 public:
  virtual ~TransportListener() = default;
  // `within`: the request of ours in whose answer it came, where the transport can tell.
  virtual void on_message(std::string text, std::optional<std::uint64_t> within) = 0;
  // Whatever carries messages says that this request of ours failed; no answer to it will come.
  virtual void on_refused(std::uint64_t request, std::string why) = 0;
  // Something came that is no message.
  virtual void on_garbage() = 0;
  // `refused`: the requests of ours that the other side certainly did not look at.
  virtual void on_closed(std::string why, std::vector<std::uint64_t> refused) = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual void open() = 0;
  // `request`: the id of the request that the message is.
  virtual void send(std::string message, std::optional<std::uint64_t> request) = 0;
  // The answer to that request has come, or nobody waits for it any more.
  virtual void answered(std::uint64_t request) = 0;
  virtual void forget(std::uint64_t request) = 0;
  // Both sides know each other; the protocol that they speak.
  virtual void agreed(std::string_view protocol) = 0;
  // Ends the connection in order, within a bounded time; then calls `closed`, once, from the loop.
  virtual void close(std::move_only_function<void()> closed) = 0;
};

}  // namespace agentrt::adapters
