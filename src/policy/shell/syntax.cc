#include "policy/shell/syntax.h"

#include <algorithm>

#include "policy/shell/reader.h"

namespace agentrt::policy::shell {
namespace {

constexpr std::string_view kActive = "*?[{";

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at++]);
    const std::size_t more = lead < 0x80   ? 0
                             : lead < 0xC2 ? 4
                             : lead < 0xE0 ? 1
                             : lead < 0xF0 ? 2
                                           : 3;
    if (more == 4 || lead > 0xF4 || at + more > text.size()) return false;
    for (std::size_t end = at + more; at < end; ++at)
      if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80) return false;
  }
  return true;
}

std::optional<std::string> literal(const Word& word) {
  std::string out;
  for (const Piece& piece : word.pieces) {
    if (piece.kind != Piece::Kind::text) return std::nullopt;
    if (piece.quoting == Quoting::none) {
      const std::string_view text = piece.text;
      const bool tilde = text.starts_with('~') && out.empty();
      // A single `[` or `{` is an ordinary word, not a pattern.
      if (tilde || (text.find_first_of(kActive) != text.npos && word.source != "[" &&
                    word.source != "{" && word.source != "{}"))
        return std::nullopt;
    }
    out += piece.text;
  }
  return out;
}

Script read(std::string_view text) {
  Reading reading;
  if (text.size() > kTextBytesMax) {
    reading.script.over_limit =
        "the command is longer than " + std::to_string(kTextBytesMax / 1024) + " KiB";
    return std::move(reading.script);
  }
  if (text.find('\0') != text.npos) {
    reading.script.over_limit =
        "the command contains a NUL character, at which bash would stop reading";
    return std::move(reading.script);
  }
  if (!is_utf8(text)) reading.script.doubts.emplace_back("the command is not valid UTF-8");
  Reader(text, reading).run();
  return std::move(reading.script);
}

std::optional<std::vector<std::string>> plain_words(std::string_view text) {
  std::vector<std::string> out;
  Reading reading;
  Reader reader(text, reading);
  for (const Word& word : reader.only_words()) {
    auto value = literal(word);
    if (!value) return std::nullopt;
    out.push_back(std::move(*value));
  }
  if (!reader.finished() || !reading.script.doubts.empty()) return std::nullopt;
  return out;
}

std::string quoted(std::string_view value) {
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
           std::string_view("_-./:=@%+,^").find(c) != std::string_view::npos ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  if (!value.empty() && (std::ranges::all_of(value, plain) || value == "[" || value == "{}"))
    return std::string(value);
  std::string out = "'";
  for (const char c : value) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

}  // namespace agentrt::policy::shell
