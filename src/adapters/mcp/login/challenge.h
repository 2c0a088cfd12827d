// adapters/mcp/login/challenge.h: parses the Bearer challenge of WWW-Authenticate (RFC 9110, 6750
// and 9728). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace agentrt::adapters {

inline constexpr std::size_t kChallengeBytesMax = 8 * 1024;
inline constexpr std::size_t kScopesMax = 100;

struct Challenge {
  std::optional<std::string> resource_metadata;
  std::optional<std::vector<std::string>> scopes;
  std::string error;  // empty: none

  bool lacks_scopes() const { return error == "insufficient_scope"; }
  bool operator==(const Challenge&) const = default;
};

// The values of all WWW-Authenticate fields, joined by commas. A text without a Bearer challenge
// gives an empty one. Errors: too_large, limit_exceeded.
Result<Challenge> read_challenge(std::string_view text);

// The words of a scope parameter. Errors: limit_exceeded.
Result<std::vector<std::string>> read_scopes(std::string_view text);
std::string joined_scopes(const std::vector<std::string>& scopes);
// Appends those that `scopes` lacks.
void add_scopes(std::vector<std::string>& scopes, const std::vector<std::string>& more);

}  // namespace agentrt::adapters
