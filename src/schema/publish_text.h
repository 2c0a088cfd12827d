// schema/publish_text.h: JSON text made for reading.
#pragma once

#include <string>
#include <string_view>

namespace agentrt::schema {

inline constexpr std::size_t kPublishedColumns = 100;

// The same JSON value with line breaks and two spaces a level. What fits on one line of
// kPublishedColumns stays on it. Ends with a line feed. REQUIRES: `json` is valid and compact.
std::string pretty(std::string_view json);

}  // namespace agentrt::schema
