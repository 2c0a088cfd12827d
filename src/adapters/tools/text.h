// adapters/tools/text.h: converts file bytes to bounded text for a model.
//
// Pure functions; BoundedText is a value for one thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "schema/file_tools.h"

namespace agentrt::adapters::tools {

// Part of a result reserved for the note that says what was omitted.
inline constexpr std::size_t kNoteBytesMax = 1'024;

// Replaces each byte that is not valid UTF-8, and each zero byte, with U+FFFD.
std::string valid_utf8(std::string_view bytes);

// Whether valid_utf8() would change nothing.
bool is_text(std::string_view bytes);

// U+FFFD, shown to the model in place of an invalid byte.
inline constexpr std::string_view kNoCharacter = "\xEF\xBF\xBD";

// A path for a line of its own. Quoted as JSON if it contains characters that would break the line.
std::string path_words(std::string_view path);

// A result that accepts pieces until the next one would exceed the limit.
class BoundedText {
 public:
  explicit BoundedText(std::size_t bytes_max = schema::kToolTextBytesMax)
      : bytes_max_(bytes_max - kNoteBytesMax) {}

  // False: the piece does not fit; nothing was added.
  bool add(std::string_view piece) {
    if (text_.size() + piece.size() > bytes_max_) return false;
    text_ += piece;
    return true;
  }
  // Adds a sentence about the result, in brackets on its own line.
  void note(std::string_view sentence);
  bool empty() const { return text_.empty(); }
  std::string take() { return std::move(text_); }

 private:
  std::size_t bytes_max_;
  std::string text_;
};

// Describes binary content by its first bytes, such as "an image (image/png)". Empty for text.
std::string kind_of_bytes(std::string_view beginning);

// How many first bytes kind_of_bytes() needs.
inline constexpr std::size_t kKindBytes = 8'192;

}  // namespace agentrt::adapters::tools
