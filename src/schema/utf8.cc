#include "schema/utf8.h"

#include <simdjson.h>

namespace agentrt::schema {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

// The size in bytes of the first UTF-8 character of `text`; 0 if it is invalid.
std::size_t character_size(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t size = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (size > text.size() || !simdjson::validate_utf8(text.data(), size)) return 0;
  return size;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  if (simdjson::validate_utf8(text.data(), text.size())) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    out += size == 0 ? kReplacement : text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return out;
}

}  // namespace agentrt::schema
