// cli/mcp/callback_listener.h: receives the redirect that ends a login in the browser.
//
// Listens on 127.0.0.1. Of all requests it takes one, for /callback with the right state; it
// answers every other with an error. The browser gets its page when the login has succeeded or
// failed. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/result.h"

namespace agentrt::cli {

class CallbackListener {
 public:
  // Port 0: any. Errors: conflict: the port is in use; unavailable.
  static Result<CallbackListener> open(std::uint16_t port);

  std::uint16_t port() const { return port_; }
  std::string redirect_uri() const;
  // Readable when a browser connects.
  int descriptor() const { return listener_.get(); }
  // Accepts one connection. The path and query of its request, if it is the awaited one; that
  // connection waits for answer(). Blocks for at most kRequestMs.
  std::optional<std::string> accept(std::string_view state);
  // Shows the text to the person in the browser, if one waits.
  void answer(std::string_view text);

 private:
  static constexpr int kRequestMs = 2'000;
  static constexpr std::size_t kRequestBytesMax = 64 * 1024;

  CallbackListener(Descriptor listener, std::uint16_t port)
      : listener_(std::move(listener)), port_(port) {}

  Descriptor listener_;
  std::uint16_t port_;
  Descriptor browser_;
};

}  // namespace agentrt::cli
