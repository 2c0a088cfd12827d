// channels/frames.h: facts as server-sent events, and the cursor of the stream over all sessions.
//
// Each fact is rendered once per stream. Frames holds a run of rendered facts in one buffer, which
// is written unchanged to every subscriber of the stream. The key of a frame is the fact's sequence
// in the stream of a session, or its position in the stream over all sessions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ports/control_plane.h"

namespace agentrt::channels {

// A position in the stream over all sessions. Opaque to clients.
struct Cursor {
  ports::Position position = 0;
  GenerationId generation;

  bool operator==(const Cursor&) const = default;
};
std::string write_cursor(ports::Position position, const GenerationId& generation);
Result<Cursor> read_cursor(std::string_view text);

// The kind of a stream; determines the keys and id: lines of its frames.
struct StreamKind {
  std::optional<GenerationId> generation;  // absent: the stream of one session

  std::uint64_t key_of(const ports::FeedEvent& event) const {
    return generation ? event.position : event.event.sequence;
  }
};

struct Frames {
  std::uint64_t first = 0;  // keys of the first and last frame; 0 if there are none
  std::uint64_t last = 0;
  std::string text;
  std::vector<std::uint32_t> starts;  // the offset of each frame

  std::size_t count() const { return starts.size(); }
  bool follows(std::uint64_t key) const { return starts.empty() || key == last + 1; }
  void add(const ports::FeedEvent& event, const StreamKind& kind);
};
using FramesPtr = std::shared_ptr<const Frames>;

// event: stream.overflow: the subscriber missed the facts after `resume_after` (already JSON).
std::string overflow_frame(std::string_view resume_after);
// event: stream.error: the stream ends with an error.
std::string error_frame(const Error& error);

}  // namespace agentrt::channels
