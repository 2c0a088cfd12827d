// base/event_stream.h: the text/event-stream format, from bytes as they arrive to whole events.
//
// Feed it pieces of any size: a piece may end within a line, within a character, between a CR and
// its LF. Fields: id, event, data (lines joined by \n), retry; comments and unknown fields are
// skipped, as the format says. An event is given out at the empty line that ends it, and only when
// it has data. Pure; one parser a stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace agentrt {

struct StreamEvent {
  std::string id;  // the last id seen, which an event without one inherits
  std::string type = "message";
  std::string data;

  bool operator==(const StreamEvent&) const = default;
};

class EventStreamParser {
 public:
  static constexpr std::size_t kEventBytesMax = 16 << 20;

  // Events longer than `event_bytes_max` end the stream.
  explicit EventStreamParser(std::size_t event_bytes_max = kEventBytesMax)
      : event_bytes_max_(event_bytes_max) {}

  // The events that `bytes` completes. too_large: an event passed the limit.
  Result<std::vector<StreamEvent>> feed(std::string_view bytes);

  // For whoever connects again: the last id that was sent, and how long to wait before.
  const std::string& last_id() const { return id_; }
  std::optional<std::uint32_t> retry_ms() const { return retry_ms_; }

 private:
  void take_line(std::string_view line, std::vector<StreamEvent>& out);
  void take_field(std::string_view name, std::string_view value);

  std::size_t event_bytes_max_;
  std::string line_;       // the line being read
  bool after_cr_ = false;  // a LF that comes next belongs to the CR before it
  bool started_ = false;   // a byte order mark may only stand at the very beginning
  std::string id_;
  std::string type_;
  std::string data_;
  bool has_data_ = false;
  std::optional<std::uint32_t> retry_ms_;
};

}  // namespace agentrt
