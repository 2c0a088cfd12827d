#include "adapters/tools/text.h"

#include <algorithm>

#include <fmt/format.h>

#include "adapters/files/media_type.h"

namespace agentrt::adapters::tools {
namespace {

bool continues(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// The length in bytes of the character at the front of `bytes`; 0: invalid.
std::size_t character_size(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return first == 0 ? 0 : 1;
  const std::size_t size = first < 0xC2   ? 0
                           : first < 0xE0 ? 2
                           : first < 0xF0 ? 3
                           : first < 0xF5 ? 4
                                          : 0;
  if (size == 0 || bytes.size() < size) return 0;
  // Rejects overlong forms, surrogates and code points past U+10FFFF.
  const unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (at(1) < low || at(1) > high) return 0;
  for (std::size_t i = 2; i < size; ++i)
    if (!continues(at(i))) return 0;
  return size;
}

}  // namespace

std::string valid_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t size = character_size(bytes);
    if (size == 0)
      out += kNoCharacter;
    else
      out += bytes.substr(0, size);
    bytes.remove_prefix(size == 0 ? 1 : size);
  }
  return out;
}

bool is_text(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t size = character_size(bytes);
    if (size == 0) return false;
    bytes.remove_prefix(size);
  }
  return true;
}

void BoundedText::note(std::string_view sentence) {
  const bool open_line = !text_.empty() && !text_.ends_with('\n');
  const std::size_t room = bytes_max_ + kNoteBytesMax - text_.size();
  text_ += schema::utf8_prefix(fmt::format("{}[{}]\n", open_line ? "\n" : "", sentence), room);
}

std::string path_words(std::string_view path) {
  const bool plain = std::ranges::none_of(
      path, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  if (plain) return valid_utf8(path);
  std::string out;
  schema::write_string(out, path);
  return out;
}

std::string kind_of_bytes(std::string_view beginning) {
  beginning = beginning.substr(0, kKindBytes);
  if (const std::string_view type = media_type_of(beginning); !type.empty())
    return fmt::format("{} ({})", type.starts_with("image/") ? "an image" : "a document", type);
  if (beginning.starts_with("\xFF\xFE") || beginning.starts_with("\xFE\xFF")) return "UTF-16 text";
  return beginning.contains('\0') ? "a binary file" : "";
}

}  // namespace agentrt::adapters::tools
