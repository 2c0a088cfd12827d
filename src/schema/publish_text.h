// schema/publish_text.h: pretty-prints JSON.
#pragma once

#include <string>
#include <string_view>

namespace agentrt::schema {

inline constexpr std::size_t kPublishedColumns = 100;

// The same JSON value with line breaks, indented by two spaces per level. A value that fits within
// kPublishedColumns stays on one line. Ends with a line feed. REQUIRES: `json` is valid and
// compact.
std::string pretty(std::string_view json);

}  // namespace agentrt::schema
