// adapters/mcp/remedy.h: errors with a remedy: what a person can do about them, as an imperative.
//
// The remedy travels in the details of the error, {"remedy": "…"}, up to the fact or the reply that
// reports it. Code::unauthenticated means that a person must log in; such a server is retried
// at once after the login.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace agentrt::adapters {

Error with_remedy(Code code, std::string message, const std::string& remedy);
// nullopt: the error has none.
std::optional<std::string> remedy_of(const Error& error);
// The same error with another message.
Error reworded(const Error& error, std::string message);

}  // namespace agentrt::adapters
