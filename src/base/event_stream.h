// base/event_stream.h: incremental parser for the text/event-stream format (server-sent events).
//
// feed() takes chunks of any size: a chunk may end within a line, within a UTF-8 character, or
// between a CR and its LF. Parsed fields: id, event, data (lines joined by \n) and retry. Comments
// and unknown fields are ignored, as the format requires. An event is emitted at the empty line
// that ends it, and only if it has data. Does no I/O; use one parser per stream.
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
  std::string id;  // the last id received; an event without an id inherits it
  std::string type = "message";
  std::string data;

  bool operator==(const StreamEvent&) const = default;
};

class EventStreamParser {
 public:
  static constexpr std::size_t kEventBytesMax = 16 << 20;

  // An event longer than `event_bytes_max` is an error that ends the stream.
  explicit EventStreamParser(std::size_t event_bytes_max = kEventBytesMax)
      : event_bytes_max_(event_bytes_max) {}

  // Returns the events that `bytes` completes. Fails with too_large if an event exceeds the limit.
  Result<std::vector<StreamEvent>> feed(std::string_view bytes);

  // For reconnecting: the last event id received, and the delay that the server requested.
  const std::string& last_id() const { return id_; }
  std::optional<std::uint32_t> retry_ms() const { return retry_ms_; }

 private:
  void take_line(std::string_view line, std::vector<StreamEvent>& out);
  void take_field(std::string_view name, std::string_view value);

  std::size_t event_bytes_max_;
  std::string line_;       // the current, incomplete line
  bool after_cr_ = false;  // the next byte, if LF, belongs to the preceding CR
  bool started_ = false;   // a byte order mark is accepted only at the start of the stream
  std::string id_;
  std::string type_;
  std::string data_;
  bool has_data_ = false;
  std::optional<std::uint32_t> retry_ms_;
};

}  // namespace agentrt
