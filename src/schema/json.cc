#include "schema/json.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

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

// The value of four hexadecimal digits; nullopt: they are not.
std::optional<unsigned> hex_value(std::string_view digits) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value, 16);
  if (error != std::errc{} || digits.size() != 4 || end != digits.end()) return std::nullopt;
  return value;
}

void append_utf8(std::string& out, unsigned point) {
  const auto put = [&out](unsigned byte) { out += static_cast<char>(byte); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0 | point >> 6);
    put(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    put(0xE0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3F));
    put(0x80 | (point & 0x3F));
  } else {
    put(0xF0 | point >> 18);
    put(0x80 | (point >> 12 & 0x3F));
    put(0x80 | (point >> 6 & 0x3F));
    put(0x80 | (point & 0x3F));
  }
}

char escaped_char(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    default:
      return c;
  }
}

// Decodes \uXXXX, or two of them that form one character, at `text[at]`. Returns the position after
// it; npos: the text ends within it, or it is not one.
std::size_t append_code(std::string_view text, std::size_t at, std::string& out) {
  const auto code = [&](std::size_t from) {
    return from + 6 <= text.size() ? hex_value(text.substr(from + 2, 4)) : std::nullopt;
  };
  const auto first = code(at);
  if (!first) return std::string_view::npos;
  const bool opens_pair = *first >= 0xD800 && *first < 0xDC00;
  if (!opens_pair || text.substr(at + 6, 2) != "\\u") {
    // The other half may follow.
    if (opens_pair && text.size() < at + 8) return std::string_view::npos;
    append_utf8(out, *first);
    return at + 6;
  }
  const auto second = code(at + 6);
  if (!second) return std::string_view::npos;
  if (*second < 0xDC00 || *second > 0xDFFF) {
    append_utf8(out, *first);
    return at + 6;
  }
  append_utf8(out, 0x10000 + ((*first - 0xD800) << 10) + (*second - 0xDC00));
  return at + 12;
}

}  // namespace

std::string unescaped(std::string_view inside) {
  std::string out;
  for (std::size_t at = 0; at < inside.size();) {
    const std::size_t escape = std::min(inside.find('\\', at), inside.size());
    out += inside.substr(at, escape - at);
    if (escape + 1 >= inside.size()) break;
    if (inside[escape + 1] == 'u') {
      at = append_code(inside, escape, out);
    } else {
      out += escaped_char(inside[escape + 1]);
      at = escape + 2;
    }
  }
  return out;
}

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
