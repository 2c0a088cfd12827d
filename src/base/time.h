// base/time.h: timestamps as facts store them: UTC, in whole milliseconds.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace agentrt {

struct Timestamp {
  std::int64_t ms = 0;  // since 1970-01-01T00:00:00Z

  auto operator<=>(const Timestamp&) const = default;
};

inline Timestamp operator+(Timestamp at, std::int64_t ms) { return {at.ms + ms}; }
inline std::int64_t operator-(Timestamp a, Timestamp b) { return a.ms - b.ms; }

// RFC 3339 with milliseconds: 2026-05-08T02:30:00.000Z.
std::string format(Timestamp at);
// Appends the result of format(). REQUIRES: the year is in 0..9999.
void append(std::string& out, Timestamp at);
std::optional<Timestamp> parse_timestamp(std::string_view text);

}  // namespace agentrt
