// schema/outputs.h: stored output bytes, before the facts that name their ref are stored.
//
// A KeptOutput exists only once its bytes are on disk, and facts that name its ref are made only
// from it. A fact therefore never names missing bytes. Values; usable on any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schema/values.h"

namespace agentrt {
AGENTRT_ID(OutputRef, "out");
}  // namespace agentrt

namespace agentrt::schema {

inline constexpr std::string_view kDigestPrefix = "sha256:";

struct KeptOutput {
  OutputRef ref;
  std::uint64_t size = 0;
  std::string media_type;
  std::string encoding;                     // utf-8, binary
  std::string digest;                       // sha256:…
  std::string preview;                      // the start of a text; empty for other bytes
  std::optional<std::uint64_t> whole_size;  // of a truncated output: its size before truncation
  std::vector<std::string> redacted;        // names of the secrets that were redacted
  // Protects the bytes from garbage collection. Release it after the fact is stored.
  std::shared_ptr<const void> hold;
};

// The record of an index row of kind `output`.
struct OutputRecord {
  std::string output_ref;
  std::uint64_t size = 0;
  std::string digest;
  std::optional<std::string> media_type;
  std::optional<std::string> encoding;
  std::optional<bool> truncated;
  std::optional<bool> redacted;
  std::optional<Timestamp> spilled_at;
  std::optional<Timestamp> expires_at;

  bool operator==(const OutputRecord&) const = default;
};
BOOST_DESCRIBE_STRUCT(OutputRecord, (),
                      (output_ref, size, digest, media_type, encoding, truncated, redacted,
                       spilled_at, expires_at))

inline constexpr std::string_view kOutputKind = "output";
inline constexpr std::string_view kOutputKept = "kept";
inline constexpr std::string_view kOutputExpired = "expired";

// The reply to an upload.
struct UploadReply {
  SessionId session_id;
  std::string output_ref;
  std::uint64_t size = 0;
  std::string digest;
  std::string media_type;
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(UploadReply, (), (session_id, output_ref, size, digest, media_type, sequence))

}  // namespace agentrt::schema
