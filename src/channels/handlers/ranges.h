// channels/handlers/ranges.h: evaluates Range, conditional headers and media types for output
// replies. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "channels/request.h"

namespace agentrt::channels {

struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

enum class RangeKind { whole, part, unsatisfiable };

struct RangeAnswer {
  RangeKind kind = RangeKind::whole;
  ByteRange range;
};

// Evaluates Range for a body of `size` bytes. Multiple ranges, other units and malformed ranges are
// ignored, as is a Range whose If-Range does not match `etag`.
RangeAnswer read_range(const Head& head, std::uint64_t size, std::string_view etag);

// Whether If-None-Match contains `etag` or "*".
bool names_etag(std::string_view if_none_match, std::string_view etag);

inline constexpr std::size_t kMediaTypeSizeMax = 128;
// type/subtype, optionally with parameters; free of characters that could break a header line.
bool valid_media_type(std::string_view text);
// Whether a browser may display the type inline: only plain kinds of text. Everything else,
// including HTML, is sent as an attachment.
bool shown_in_place(std::string_view media_type);

}  // namespace agentrt::channels
