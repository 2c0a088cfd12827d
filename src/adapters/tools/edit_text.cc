#include "adapters/tools/edit_text.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "adapters/tools/text.h"

namespace agentrt::adapters::tools {

using schema::Category;

namespace {

constexpr auto kNone = std::string_view::npos;
constexpr std::size_t kPlacesTold = 5;

bool all_crlf(std::string_view bytes) {
  std::size_t at = bytes.find('\n');
  if (at == kNone) return false;
  for (; at != kNone; at = bytes.find('\n', at + 1))
    if (at == 0 || bytes[at - 1] != '\r') return false;
  return true;
}

std::string with_crlf(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' && (i == 0 || text[i - 1] != '\r')) out += '\r';
    out += text[i];
  }
  return out;
}

std::vector<std::size_t> places_of(std::string_view text, std::string_view wanted) {
  std::vector<std::size_t> out;
  for (std::size_t at = text.find(wanted); at != kNone; at = text.find(wanted, at + wanted.size()))
    out.push_back(at);
  return out;
}

std::size_t line_at(std::string_view bytes, std::size_t place) {
  return static_cast<std::size_t>(std::ranges::count(bytes.substr(0, place), '\n')) + 1;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// The text without the ignored bytes, and the original position of each remaining byte.
struct Squeezed {
  std::string text;
  std::vector<std::size_t> from;
};
template <class LeaveOut>
Squeezed squeezed(std::string_view text, LeaveOut leave_out) {
  Squeezed out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (leave_out(text[i])) continue;
    out.text += text[i];
    out.from.push_back(i);
  }
  return out;
}

// The number of the line where `wanted` occurs if the bytes chosen by `leave_out` are ignored.
template <class LeaveOut>
std::size_t line_without(std::string_view bytes, std::string_view wanted, LeaveOut leave_out) {
  const Squeezed in = squeezed(bytes, leave_out), what = squeezed(wanted, leave_out);
  if (what.text.empty()) return 0;
  const std::size_t at = in.text.find(what.text);
  return at == kNone ? 0 : line_at(bytes, in.from[at]);
}

std::unexpected<schema::Failure> not_there(std::string_view path, std::string_view bytes,
                                           std::string_view wanted) {
  if (const auto line = line_without(bytes, wanted, [](char c) { return c == '\r'; }))
    return refuse(Category::invalid_input,
                  fmt::format("oldText occurs in {} at line {} with different line endings: some "
                              "lines end with CRLF, others with LF. Edit one line at a time.",
                              path, line));
  if (const auto line = line_without(bytes, wanted, is_space))
    return refuse(Category::invalid_input,
                  fmt::format("oldText does not occur in {}. Line {} differs only in white space: "
                              "read that part again and copy it exactly.",
                              path, line));
  if (wanted.contains(kNoCharacter) && !is_text(bytes))
    return refuse(
        Category::invalid_input,
        fmt::format("oldText does not occur in {}. It contains U+FFFD, which stands for a byte "
                    "that is not UTF-8 and cannot be matched: edit the text before or after it.",
                    path));
  return refuse(
      Category::invalid_input,
      fmt::format("oldText does not occur in {}; read the file again and copy the text exactly.",
                  path));
}

std::unexpected<schema::Failure> too_often(std::string_view path, std::string_view bytes,
                                           const std::vector<std::size_t>& places) {
  std::vector<std::size_t> lines;
  for (std::size_t i = 0; i < std::min(places.size(), kPlacesTold); ++i)
    lines.push_back(line_at(bytes, places[i]));
  return refuse(Category::invalid_input,
                fmt::format("oldText occurs in {} {} times (lines {}{}). Include more surrounding "
                            "lines, or set replaceAll.",
                            path, places.size(), fmt::join(lines, ", "),
                            places.size() > kPlacesTold ? ", …" : ""));
}

}  // namespace

Outcome<std::string> edited(std::string_view bytes, const agentrt::tools::EditFileArgs& args) {
  if (args.old_text.empty())
    return refuse(Category::invalid_input, "oldText is empty; use write_file for a new file.");
  const bool crlf = all_crlf(bytes);
  const std::string old_text = crlf ? with_crlf(args.old_text) : args.old_text;
  const std::string new_text = crlf ? with_crlf(args.new_text) : args.new_text;
  if (old_text == new_text)
    return refuse(Category::invalid_input,
                  "oldText and newText are the same; nothing was changed.");
  const auto places = places_of(bytes, old_text);
  if (places.empty()) return not_there(args.path, bytes, old_text);
  if (places.size() > 1 && !args.replace_all.value_or(false))
    return too_often(args.path, bytes, places);
  if (bytes.size() - places.size() * old_text.size() + places.size() * new_text.size() >
      kFileBytesMax)
    return refuse(Category::invalid_input,
                  fmt::format("{} would be larger than {} bytes.", args.path, kFileBytesMax));
  std::string out;
  std::size_t from = 0;
  for (const std::size_t place : places) {
    out += bytes.substr(from, place - from);
    out += new_text;
    from = place + old_text.size();
  }
  out += bytes.substr(from);
  return out;
}

}  // namespace agentrt::adapters::tools
