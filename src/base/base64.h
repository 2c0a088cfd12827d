// base/base64.h: base64, in the standard alphabet and in the one for URLs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace agentrt {

// With padding.
std::string base64(std::string_view bytes);
// In the alphabet for URLs (RFC 4648, section 5), without padding.
std::string base64url(std::string_view bytes);
// Decodes either alphabet, with or without padding; line breaks are skipped. nullopt: invalid.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace agentrt
