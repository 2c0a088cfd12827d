// adapters/tools/text.h: bytes of files as text for a model, within its bounds.
//
// Pure, but for BoundedText, which is a value of one thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "schema/file_tools.h"

namespace agentrt::adapters::tools {

// Of a result, kept for the sentence that says what was left out.
inline constexpr std::size_t kNoteBytesMax = 1'024;

// The same text with U+FFFD for each byte that is no part of a character, and for zero bytes.
std::string valid_utf8(std::string_view bytes);

// Whether that is the text itself.
bool is_text(std::string_view bytes);

// What stands for a byte that is none, shown to a model.
inline constexpr std::string_view kNoCharacter = "\xEF\xBF\xBD";

// A path on a line of its own: one that would break it is quoted as JSON does.
std::string path_words(std::string_view path);

// A result that grows until the next piece would not fit.
class BoundedText {
 public:
  explicit BoundedText(std::size_t bytes_max = schema::kToolTextBytesMax)
      : bytes_max_(bytes_max - kNoteBytesMax) {}

  // False: it does not fit, and nothing was added.
  bool add(std::string_view piece) {
    if (text_.size() + piece.size() > bytes_max_) return false;
    text_ += piece;
    return true;
  }
  // A sentence about the result, in brackets on a line of its own.
  void note(std::string_view sentence);
  bool empty() const { return text_.empty(); }
  std::string take() { return std::move(text_); }

 private:
  std::size_t bytes_max_;
  std::string text_;
};

// What bytes are that are no text, by how they begin: "an image (image/png)". Empty for text.
std::string kind_of_bytes(std::string_view beginning);

// How much of the beginning kind_of_bytes() is shown.
inline constexpr std::size_t kKindBytes = 8'192;

}  // namespace agentrt::adapters::tools
