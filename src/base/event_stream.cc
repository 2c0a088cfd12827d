#include "base/event_stream.h"

#include <charconv>
#include <utility>

namespace agentrt {

Result<std::vector<StreamEvent>> EventStreamParser::feed(std::string_view bytes) {
  std::vector<StreamEvent> out;
  while (!bytes.empty()) {
    if (std::exchange(after_cr_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const std::size_t end = bytes.find_first_of("\r\n");
    line_ += bytes.substr(0, end);
    if (line_.size() + data_.size() > event_bytes_max_)
      return fail(Code::too_large, "The stream sent an event that is too large to read.");
    if (end == std::string_view::npos) break;
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    take_line(std::exchange(line_, {}), out);
  }
  return out;
}

void EventStreamParser::take_line(std::string_view line, std::vector<StreamEvent>& out) {
  if (!std::exchange(started_, true) && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  if (line.empty()) {
    if (std::exchange(has_data_, false))
      out.push_back({id_, type_.empty() ? "message" : type_, std::exchange(data_, {})});
    type_.clear();
    return;
  }
  if (line.front() == ':') return;
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return take_field(line, {});
  std::string_view value = line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  take_field(line.substr(0, colon), value);
}

void EventStreamParser::take_field(std::string_view name, std::string_view value) {
  if (name == "data") {
    if (has_data_) data_ += '\n';
    has_data_ = true;
    data_ += value;
  } else if (name == "event") {
    type_ = value;
  } else if (name == "id" && value.find('\0') == std::string_view::npos) {
    id_ = value;
  } else if (name == "retry") {
    std::uint32_t ms = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), ms);
    if (error == std::errc{} && end == value.data() + value.size()) retry_ms_ = ms;
  }
}

}  // namespace agentrt
