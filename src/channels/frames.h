// channels/frames.h: rendered facts, and the cursor of the stream over all sessions.
//
// Each fact is rendered once per stream. Frames holds a run of rendered facts in one buffer, which
// is written unchanged to every subscriber of the stream (channels/stream_form.h). The key of a
// frame is the fact's sequence in the stream of a session, or its position in the stream over all
// sessions.
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

// The kind of a stream; determines the keys of its frames.
struct StreamKind {
  std::optional<GenerationId> generation;  // absent: the stream of one session

  std::uint64_t key_of(const ports::FeedEvent& event) const {
    return generation ? event.position : event.event.sequence;
  }
  // Where a client resumes after this key: a sequence, or a cursor.
  std::string place_of(std::uint64_t key) const;
};

// One fact as a server-sent event within Frames::text. All members are offsets.
struct Frame {
  std::uint32_t start = 0;
  std::uint32_t place = 0;  // of the text after "id: "
  std::uint32_t type = 0;
  std::uint32_t data = 0;  // the event itself, up to data_end
  std::uint32_t data_end = 0;
  bool split = false;  // the event has line breaks, so "data: " begins each of its lines
};

struct Frames {
  std::uint64_t first = 0;  // keys of the first and last frame; 0 if there are none
  std::uint64_t last = 0;
  std::string text;
  std::vector<Frame> list;

  std::size_t count() const { return list.size(); }
  bool follows(std::uint64_t key) const { return list.empty() || key == last + 1; }
  void add(const ports::FeedEvent& event, const StreamKind& kind);

  std::size_t start_of(std::size_t index) const {
    return index < list.size() ? list[index].start : text.size();
  }
  std::string_view type_of(std::size_t index) const;
  // The event of a frame that is split, in one piece.
  std::string unsplit(std::size_t index) const;
  // The resume position of a frame: the text of its id: line.
  std::string_view place_of(std::size_t index) const;
};
using FramesPtr = std::shared_ptr<const Frames>;

}  // namespace agentrt::channels
