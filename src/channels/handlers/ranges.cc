#include "channels/handlers/ranges.h"

#include <algorithm>
#include <charconv>

namespace agentrt::channels {
namespace {

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || stop != end || error != std::errc{}) return std::nullopt;
  return value;
}

bool token_char(char c) {
  const bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
  return letter || (c >= '0' && c <= '9') || std::string_view("!#$&^_.+-").contains(c);
}

bool token(std::string_view text) { return !text.empty() && std::ranges::all_of(text, token_char); }

}  // namespace

RangeAnswer read_range(const Head& head, std::uint64_t size, std::string_view etag) {
  const RangeAnswer whole{RangeKind::whole, {0, size}};
  if (!head.range || (head.if_range && trimmed(*head.if_range) != etag)) return whole;
  std::string_view text = trimmed(*head.range);
  constexpr std::string_view kUnit = "bytes=";
  if (!text.starts_with(kUnit)) return whole;
  text = trimmed(text.substr(kUnit.size()));
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos || text.contains(',')) return whole;
  const std::string_view first = trimmed(text.substr(0, dash));
  const std::string_view last = trimmed(text.substr(dash + 1));
  if (first.empty()) {
    const auto count = number(last);
    if (!count) return whole;
    const std::uint64_t taken = std::min(*count, size);
    if (taken == 0) return {RangeKind::unsatisfiable, {}};
    return {RangeKind::part, {size - taken, taken}};
  }
  const auto from = number(first);
  const auto to = last.empty() ? std::optional<std::uint64_t>(UINT64_MAX) : number(last);
  if (!from || !to || *to < *from) return whole;
  if (*from >= size) return {RangeKind::unsatisfiable, {}};
  return {RangeKind::part, {*from, std::min(*to, size - 1) - *from + 1}};
}

bool names_etag(std::string_view if_none_match, std::string_view etag) {
  while (!if_none_match.empty()) {
    const std::size_t end = std::min(if_none_match.find(','), if_none_match.size());
    std::string_view named = trimmed(if_none_match.substr(0, end));
    if (named.starts_with("W/")) named.remove_prefix(2);
    if (named == "*" || named == etag) return true;
    if_none_match.remove_prefix(std::min(end + 1, if_none_match.size()));
  }
  return false;
}

bool valid_media_type(std::string_view text) {
  if (text.size() > kMediaTypeSizeMax) return false;
  const std::size_t end = std::min(text.find(';'), text.size());
  const std::string_view essence = trimmed(text.substr(0, end));
  const std::size_t slash = essence.find('/');
  if (slash == std::string_view::npos || !token(essence.substr(0, slash)) ||
      !token(essence.substr(slash + 1)))
    return false;
  return std::ranges::all_of(text.substr(end), [](char c) { return c >= ' ' && c <= '~'; });
}

bool shown_in_place(std::string_view media_type) {
  const std::string_view essence = trimmed(media_type.substr(0, media_type.find(';')));
  return essence == "text/plain" || essence == "text/markdown" || essence == "text/csv";
}

}  // namespace agentrt::channels
