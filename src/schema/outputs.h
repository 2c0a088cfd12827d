// schema/outputs.h: bytes behind a ref, between the moment they are stored and the facts about
// them.
//
// A KeptOutput exists only after its bytes are on disk, and the facts that name its ref are made
// from it alone; so no fact can name bytes that are not there. Values; any thread.
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
  std::string preview;                      // how text begins; empty for other bytes
  std::optional<std::uint64_t> whole_size;  // of a capped output: how many bytes there were
  std::vector<std::string> redacted;        // names of the secrets that stood in it
  // Keeps the bytes from being collected; let go of it after the fact is stored.
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
