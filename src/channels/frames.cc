#include "channels/frames.h"

#include <charconv>

#include <fmt/format.h>

#include "schema/json.h"

namespace agentrt::channels {
namespace {

// JSON from callers may contain line breaks between tokens. In a frame each line needs its own
// "data: "; the reader joins them with line breaks again.
// Returns whether there were any.
bool split_lines(std::string& text, std::size_t from) {
  if (text.find_first_of("\r\n", from) == std::string::npos) return false;
  std::string out;
  for (std::size_t i = from; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    if (text[i] == '\n' || text[i] == '\r')
      out += "\ndata: ";
    else
      out += text[i];
  }
  text.replace(from, std::string::npos, out);
  return true;
}

}  // namespace

std::string write_cursor(ports::Position position, const GenerationId& generation) {
  return fmt::format("{}.{}", position, generation.text());
}

Result<Cursor> read_cursor(std::string_view text) {
  const std::size_t dot = text.find('.');
  Cursor out;
  const char* const end = text.data() + std::min(dot, text.size());
  const auto [stopped, error] = std::from_chars(text.data(), end, out.position);
  const std::string_view generation =
      dot == std::string_view::npos ? std::string_view{} : text.substr(dot + 1);
  if (error != std::errc{} || stopped != end || !well_formed_id(generation))
    return fail(Code::invalid_params, "the cursor is not a cursor of this daemon");
  out.generation = GenerationId{std::string(generation)};
  return out;
}

std::string StreamKind::place_of(std::uint64_t key) const {
  return generation ? write_cursor(key, *generation) : fmt::format("{}", key);
}

void Frames::add(const ports::FeedEvent& event, const StreamKind& kind) {
  const auto here = [this] { return static_cast<std::uint32_t>(text.size()); };
  const std::uint64_t key = kind.key_of(event);
  if (list.empty()) first = key;
  last = key;
  Frame frame{.start = here()};
  text += "id: ";
  frame.place = here();
  schema::write_number(text, key);
  if (kind.generation) {
    text += '.';
    text += kind.generation->text();
  }
  text += "\nevent: ";
  frame.type = here();
  text += event.event.type;
  text += "\ndata: ";
  frame.data = here();
  schema::write_event(text, event.event);
  frame.split = split_lines(text, frame.data);
  frame.data_end = here();
  text += "\n\n";
  list.push_back(frame);
}

std::string_view Frames::type_of(std::size_t index) const {
  const Frame& frame = list[index];
  return std::string_view(text).substr(frame.type, frame.data - frame.type - 7);
}

std::string Frames::unsplit(std::size_t index) const {
  constexpr std::string_view kBetween = "\ndata: ";
  const Frame& frame = list[index];
  std::string_view rest = std::string_view(text).substr(frame.data, frame.data_end - frame.data);
  std::string out;
  while (true) {
    const std::size_t at = rest.find(kBetween);
    out += rest.substr(0, at);
    if (at == std::string_view::npos) return out;
    out += '\n';
    rest.remove_prefix(at + kBetween.size());
  }
}

std::string_view Frames::place_of(std::size_t index) const {
  const Frame& frame = list[index];
  return std::string_view(text).substr(frame.place, frame.type - frame.place - 8);
}

}  // namespace agentrt::channels
