// schema/utf8.h: makes text of other programs valid UTF-8. Pure.
#pragma once

#include <string>
#include <string_view>

namespace agentrt::schema {

// `text` with every byte that is not part of valid UTF-8 replaced by U+FFFD, which has three bytes.
// write_string() writes the same.
std::string valid_utf8(std::string_view text);

}  // namespace agentrt::schema
