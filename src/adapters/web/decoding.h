// adapters/web/decoding.h: converts the bytes of a page to UTF-8 text. Pure. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace agentrt::adapters {

enum class MarkUp { html, none };

// The encoding is the one of the byte-order mark, of `content_type` (charset=…), or of a <meta> tag
// at the beginning of HTML; without any of them, and for names that are not in the table, UTF-8.
// Bytes that are invalid in it become U+FFFD. Carriage returns, control characters and invisible
// tag characters are removed.
std::string decoded(std::string_view bytes, std::string_view content_type, MarkUp mark_up);

// Whether the bytes are text in some encoding: without zero bytes, or UTF-16 with its byte-order
// mark.
bool is_text(std::string_view bytes);

}  // namespace agentrt::adapters
