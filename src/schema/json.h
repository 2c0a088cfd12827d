// schema/json.h: JSON as text, and the primitives that write it.
//
// JSON that is not ours (metadata, tool arguments, provider payloads) is carried as the text it
// came in, checked once and never printed again through a number type. What is ours is written
// straight from typed structs by schema/codec.h, using these primitives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace agentrt::schema {

// One valid JSON value as text.
struct Json {
  std::string text = "null";

  bool operator==(const Json&) const = default;
};

inline constexpr std::size_t kJsonDepthMax = 64;

// Checks that `text` is exactly one JSON value: well-formed, UTF-8, at most kJsonDepthMax deep.
Result<void> check_json(std::string_view text);

// Appends a JSON string. Bytes that are not UTF-8 become U+FFFD, so that what is written can always
// be read back.
void write_string(std::string& out, std::string_view text);
void write_number(std::string& out, std::int64_t value);
void write_number(std::string& out, std::uint64_t value);

// The error object of the protocol: {"code": …, "message": …, "details": {…}}.
void write_error(std::string& out, const Error& error);

// The longest prefix of `text` of at most `bytes_max` bytes that does not split a character.
std::string_view utf8_prefix(std::string_view text, std::size_t bytes_max);

}  // namespace agentrt::schema
