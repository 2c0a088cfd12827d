// adapters/mcp/authorization.h: the interface through which a transport authorizes its requests to
// one MCP server.
//
// Threads: everything runs on one loop. A callback may be called within the function that takes it,
// and not at all after the object is destroyed.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "adapters/http/http_streams.h"
#include "base/result.h"

namespace agentrt::adapters {

class McpAuthorization {
 public:
  virtual ~McpAuthorization() = default;
  // A token to send as Authorization: Bearer; nullopt: none.
  using TokenTo = std::move_only_function<void(Result<std::optional<std::string>>)>;
  virtual void token(TokenTo then) = 0;
  // The server answered 401 to a request with `used` (empty: none). Gives the token to repeat the
  // request with. Errors: unauthenticated: a person must log in; unavailable.
  virtual void refused(const std::string& used, const HttpHead& head, TokenTo then) = 0;
  // The server also answered 401 to the repeated request.
  virtual Error rejected() = 0;
  // The server answered 403 to a request. Why the token does not suffice, with the remedy; nullopt:
  // the server does not say that scopes are missing.
  virtual std::optional<Error> lacking(const HttpHead& head) = 0;
};

}  // namespace agentrt::adapters
