#include "channels/frames.h"

#include <charconv>

#include <fmt/format.h>

#include "schema/json.h"

namespace agentrt::channels {
namespace {

// JSON from callers may contain line breaks between tokens. In a frame each line needs its own
// "data: "; the reader joins them with line breaks again.
void split_lines(std::string& text, std::size_t from) {
  if (text.find_first_of("\r\n", from) == std::string::npos) return;
  std::string out;
  for (std::size_t i = from; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    if (text[i] == '\n' || text[i] == '\r')
      out += "\ndata: ";
    else
      out += text[i];
  }
  text.replace(from, std::string::npos, out);
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

void Frames::add(const ports::FeedEvent& event, const StreamKind& kind) {
  const std::uint64_t key = kind.key_of(event);
  if (starts.empty()) first = key;
  last = key;
  starts.push_back(static_cast<std::uint32_t>(text.size()));
  text += "id: ";
  schema::write_number(text, key);
  if (kind.generation) {
    text += '.';
    text += kind.generation->text();
  }
  text += "\nevent: ";
  text += event.event.type;
  text += "\ndata: ";
  const std::size_t from = text.size();
  schema::write_event(text, event.event);
  split_lines(text, from);
  text += "\n\n";
}

std::string overflow_frame(std::string_view resume_after) {
  return fmt::format("event: stream.overflow\ndata: {{\"resumeAfter\":{}}}\n\n", resume_after);
}

std::string error_frame(const Error& error) {
  std::string out = "event: stream.error\ndata: ";
  const std::size_t from = out.size();
  schema::write_error(out, error);
  split_lines(out, from);
  return out + "\n\n";
}

}  // namespace agentrt::channels
