// channels/stream_form.h: how the events of a stream are written on one transport.
//
// All forms share the rendered bytes of an event (channels/frames.h). A form adds only what differs
// per transport or per subscriber.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "channels/frames.h"
#include "channels/pieces.h"

namespace agentrt::channels {

class StreamForm {
 public:
  virtual ~StreamForm() = default;
  // Adds the frames [from, to).
  virtual void add(Pieces& out, const FramesPtr& frames, std::size_t from,
                   std::size_t to) const = 0;
  // The subscriber missed the facts after `place`.
  virtual std::string overflow(std::string_view place) const = 0;
  // The stream ends with an error.
  virtual std::string error(const Error& error) const = 0;
  // The stream has reached `place`, without an event of its own.
  virtual std::string progress(std::string_view place) const = 0;
  // Sent when nothing was sent for a while; empty: nothing. `place` is present if a filter leaves
  // events out, so that the client learns how far the stream is.
  virtual std::string keep_alive(const std::optional<std::string>& place) const = 0;
};
using StreamFormPtr = std::shared_ptr<const StreamForm>;

// Server-sent events. `kind` decides whether resume positions are numbers or strings.
StreamFormPtr sse_form(const StreamKind& kind);

}  // namespace agentrt::channels
