// channels/frames.h: facts as server-sent events, and the cursor of the stream over all sessions.
//
// A fact is rendered once, whoever reads it. Frames hold a run of them, back to back: one buffer,
// written to every subscriber of the stream as it is. Each frame has a key: the fact's sequence in
// a session's stream, its position in the stream over all sessions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ports/control_plane.h"

namespace agentrt::channels {

// A place in the stream over all sessions, as its readers carry it: opaque to them.
struct Cursor {
  ports::Position position = 0;
  GenerationId generation;

  bool operator==(const Cursor&) const = default;
};
std::string write_cursor(ports::Position position, const GenerationId& generation);
Result<Cursor> read_cursor(std::string_view text);

// Which stream frames are for; decides their keys and their id: lines.
struct StreamKind {
  std::optional<GenerationId> generation;  // absent: one session's stream

  std::uint64_t key_of(const ports::FeedEvent& event) const {
    return generation ? event.position : event.event.sequence;
  }
};

struct Frames {
  std::uint64_t first = 0;  // keys; both 0 when there are none
  std::uint64_t last = 0;
  std::string text;
  std::vector<std::uint32_t> starts;  // where each frame begins

  std::size_t count() const { return starts.size(); }
  bool follows(std::uint64_t key) const { return starts.empty() || key == last + 1; }
  void add(const ports::FeedEvent& event, const StreamKind& kind);
};
using FramesPtr = std::shared_ptr<const Frames>;

// event: stream.overflow: the subscriber missed what came after `resume_after` (already JSON).
std::string overflow_frame(std::string_view resume_after);
// event: stream.error: the stream cannot go on.
std::string error_frame(const Error& error);

}  // namespace agentrt::channels
