// Validates JSON from outside with a handwritten grammar: parsers that build values reject numbers
// that are valid JSON but fit no machine type (1e400), which this codebase carries as text.
#include <bitset>

#include <fmt/format.h>
#include <simdjson.h>

#include "schema/json.h"

namespace agentrt::schema {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

// Each function advances past the text it accepts. If one returns false, at_ is the position of the
// error. Nesting is tracked in bits rather than by recursion.
class Checker {
 public:
  explicit Checker(std::string_view text) : text_(text) {}

  Result<void> run() {
    if (!simdjson::validate_utf8(text_.data(), text_.size()))
      return fail(Code::invalid_params, "the text is not valid JSON: it is not UTF-8");
    bool whole = false;
    while (!whole) {
      if (!value_or_opening()) return failure();
      if (opened_) continue;
      if (!closings(whole)) return failure();
    }
    return {};
  }

 private:
  Result<void> failure() const {
    if (too_deep_)
      return fail(Code::invalid_params,
                  fmt::format("the JSON is nested deeper than {} levels", kJsonDepthMax));
    return fail(Code::invalid_params,
                at_ >= text_.size() ? std::string("the text is not valid JSON: it ends too early")
                                    : fmt::format("the text is not valid JSON at byte {}", at_));
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
      ++at_;
  }

  // Accepts a complete scalar or empty container; or the opening of a container and the key of its
  // first member. In the second case another value must follow (opened_).
  bool value_or_opening() {
    opened_ = false;
    skip_space();
    switch (peek()) {
      case '{':
      case '[':
        return opening(text_[at_++]);
      case '"':
        return string();
      case 't':
        return word("true");
      case 'f':
        return word("false");
      case 'n':
        return word("null");
      default:
        return number();
    }
  }

  bool opening(char bracket) {
    const bool object = bracket == '{';
    skip_space();
    if (depth_ == kJsonDepthMax) {
      too_deep_ = true;
      return false;
    }
    if (take(object ? '}' : ']')) return true;
    is_object_[depth_++] = object;
    opened_ = true;
    return !object || key();
  }

  // After a value: closes the containers that end here. Stops after a comma or at the end of the
  // text.
  bool closings(bool& whole) {
    for (;;) {
      skip_space();
      if (depth_ == 0) {
        whole = true;
        return at_ == text_.size();
      }
      const bool object = is_object_[depth_ - 1];
      if (take(',')) return !object || key();
      if (!take(object ? '}' : ']')) return false;
      --depth_;
    }
  }

  bool key() {
    skip_space();
    if (!string()) return false;
    skip_space();
    return take(':');
  }

  bool word(std::string_view expected) {
    if (!text_.substr(at_).starts_with(expected)) return false;
    at_ += expected.size();
    return true;
  }

  bool digits() {
    if (!digit(peek())) return false;
    while (digit(peek())) ++at_;
    return true;
  }

  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      if (!digits()) return false;
    }
    return true;
  }

  bool string() {
    if (!take('"')) return false;
    for (;;) {
      while (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) >= 0x20 &&
             text_[at_] != '"' && text_[at_] != '\\')
        ++at_;
      if (take('"')) return true;
      // also rejects a bare control character and the end of the text
      if (!take('\\') || !escape()) return false;
    }
  }

  bool escape() {
    if (!take('u')) {
      if (at_ >= text_.size() || !std::string_view("\"\\/bfnrt").contains(peek())) return false;
      ++at_;
      return true;
    }
    unsigned unit = 0;
    if (!hex4(unit) || (unit >= 0xdc00 && unit < 0xe000)) return false;
    if (unit < 0xd800 || unit >= 0xe000) return true;
    return word("\\u") && hex4(unit) && unit >= 0xdc00 && unit < 0xe000;
  }

  bool hex4(unsigned& unit) {
    unit = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = peek();
      const char lower = static_cast<char>(c | 0x20);
      if (digit(c))
        unit = unit * 16 + static_cast<unsigned>(c - '0');
      else if (lower >= 'a' && lower <= 'f')
        unit = unit * 16 + static_cast<unsigned>(lower - 'a' + 10);
      else
        return false;
      ++at_;
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::bitset<kJsonDepthMax> is_object_;
  bool opened_ = false;
  bool too_deep_ = false;
};

}  // namespace

Result<void> check_json(std::string_view text) { return Checker(text).run(); }

}  // namespace agentrt::schema
