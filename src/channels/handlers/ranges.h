// channels/handlers/ranges.h: which part of a reply a request asks for, and what may be said of its
// media type. PURE.
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

// What Range asks for of `size` bytes. Several ranges, other units and what is no range count as
// none; so does a Range whose If-Range names another state than `etag`.
RangeAnswer read_range(const Head& head, std::uint64_t size, std::string_view etag);

// Whether If-None-Match names `etag`, or anything.
bool names_etag(std::string_view if_none_match, std::string_view etag);

inline constexpr std::size_t kMediaTypeSizeMax = 128;
// type/subtype, with parameters or without; nothing that could break a header line.
bool valid_media_type(std::string_view text);
// Plain kinds of text may be shown in place; everything else, pages included, is to be saved.
bool shown_in_place(std::string_view media_type);

}  // namespace agentrt::channels
