// schema/json.h: JSON as text, and the primitives that write it.
//
// Foreign JSON (metadata, tool arguments, provider payloads) is kept as the text that was received.
// It is validated once and never converted through a number type. schema/codec.h writes our own
// JSON from typed structs, using these primitives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace agentrt::schema {

// One valid JSON value, as text.
struct Json {
  std::string text = "null";

  bool operator==(const Json&) const = default;
};

inline constexpr std::size_t kJsonDepthMax = 64;

// Checks that `text` is exactly one JSON value: well-formed, valid UTF-8, nested at most
// kJsonDepthMax levels.
Result<void> check_json(std::string_view text);

// Decodes the content of a JSON string, given without its quotes. The text may be cut off: an
// incomplete escape sequence at its end is dropped.
std::string unescaped(std::string_view inside);

// Appends a JSON string. Invalid UTF-8 becomes U+FFFD, so that the output can always be parsed.
void write_string(std::string& out, std::string_view text);
void write_number(std::string& out, std::int64_t value);
void write_number(std::string& out, std::uint64_t value);

// The error object of the protocol: {"code": …, "message": …, "details": {…}}.
void write_error(std::string& out, const Error& error);

// The longest prefix of `text` of at most `bytes_max` bytes that does not split a UTF-8 character.
std::string_view utf8_prefix(std::string_view text, std::size_t bytes_max);

}  // namespace agentrt::schema
