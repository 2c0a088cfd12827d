// store/sqlite/pack.h: stores runs of fragments as compressed blobs.
//
// A streamed answer consists of hundreds of small rows with the same ids, and a job of many rows
// that differ little from item to item. Once a different fact follows them in their session, their
// ids and payloads move into one blob; each row keeps only its order and its hash. Unpacking
// restores the exact bytes, so hashes stay valid and packing is invisible to readers. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agentrt::store {

inline constexpr std::size_t kPackRowsMin = 8;           // shorter runs are not packed
inline constexpr std::size_t kPackRowsMax = 1'024;       // per blob
inline constexpr std::size_t kPackBytesMax = 256 << 10;  // per blob, before compression

struct PackedRow {
  std::string scope;
  std::string payload;

  std::size_t bytes() const { return scope.size() + payload.size() + 2; }
  bool operator==(const PackedRow&) const = default;
};

// Whether facts of this type and scope occur in runs: streamed text, and facts of a job's items.
bool is_fragment(std::string_view type, std::string_view scope);

// zlib format, of SCOPE NUL PAYLOAD NUL per row; neither contains a NUL.
std::string pack(const std::vector<PackedRow>& rows);
// nullopt if the bytes are not an output of pack().
std::optional<std::vector<PackedRow>> unpack(std::string_view bytes);

}  // namespace agentrt::store
