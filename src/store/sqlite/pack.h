// store/sqlite/pack.h: runs of fragments as compressed blobs.
//
// A streamed answer is hundreds of small rows whose ids are all the same. Once something else
// follows them in their session, their ids and payloads move into one blob; what is left of each
// row is what orders it and its hash. The bytes come back as they were, so hashes hold and no
// reader can tell. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agentrt::store {

inline constexpr std::size_t kPackRowsMin = 8;           // fewer are left as they are
inline constexpr std::size_t kPackRowsMax = 1'024;       // of one blob
inline constexpr std::size_t kPackBytesMax = 256 << 10;  // of one blob before it is compressed

struct PackedRow {
  std::string scope;
  std::string payload;

  std::size_t bytes() const { return scope.size() + payload.size() + 2; }
  bool operator==(const PackedRow&) const = default;
};

// Whether facts of this type come in runs.
bool is_fragment(std::string_view type);

// zlib's format, of SCOPE NUL PAYLOAD NUL for each row: neither holds a NUL.
std::string pack(const std::vector<PackedRow>& rows);
// Absent when the bytes are not what pack() gave.
std::optional<std::vector<PackedRow>> unpack(std::string_view bytes);

}  // namespace agentrt::store
