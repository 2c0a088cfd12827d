#include "schema/json.h"

#include <charconv>
#include <cstring>

#include <fmt/format.h>
#include <simdjson.h>

#include "schema/utf8.h"

namespace agentrt::schema {
namespace {

bool plain(unsigned char c) { return c >= 0x20 && c != '"' && c != '\\'; }

// Whether none of the eight bytes at `text` needs escaping. Subtraction borrows into the high bit
// of every byte that is below 0x20, a quote or a backslash. A byte whose own high bit is set is
// part of a multi-byte character.
bool plain_eight(const char* text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kHigh = 0x8080808080808080U;
  std::uint64_t word = 0;
  std::memcpy(&word, text, sizeof word);
  const std::uint64_t quote = word ^ (kOnes * '"');
  const std::uint64_t slash = word ^ (kOnes * '\\');
  const std::uint64_t odd = (word - kOnes * 0x20) | (quote - kOnes) | (slash - kOnes);
  return (odd & ~word & kHigh) == 0;
}

void write_escaped(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
      return;
  }
}

void write_valid(std::string& out, std::string_view text) {
  std::size_t from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    while (i + 8 < text.size() && plain_eight(text.data() + i)) i += 8;
    if (plain(static_cast<unsigned char>(text[i]))) continue;
    out.append(text, from, i - from);
    write_escaped(out, text[i]);
    from = i + 1;
  }
  out.append(text, from);
}

}  // namespace

void write_string(std::string& out, std::string_view text) {
  out.push_back('"');
  if (simdjson::validate_utf8(text.data(), text.size()))
    write_valid(out, text);
  else
    write_valid(out, valid_utf8(text));
  out.push_back('"');
}

void write_number(std::string& out, std::int64_t value) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

void write_number(std::string& out, std::uint64_t value) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

void write_error(std::string& out, const Error& error) {
  out += R"({"code":)";
  write_string(out, code_name(error.code));
  out += R"(,"message":)";
  write_string(out, error.message);
  if (!error.details.empty()) {
    out += R"(,"details":)";
    out += error.details;
  }
  out.push_back('}');
}

std::string_view utf8_prefix(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace agentrt::schema
