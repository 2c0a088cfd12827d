// validate/judge.h: judges a stream of events, one line after another, by the rules of the
// standard.
//
// The stream may be any runtime's and hold any number of sessions. What a judge keeps is bounded
// whatever the length (table.h); a stream is judged by what it says, and what is open when it ends
// is unfinished, not wrong. Not for several threads at once.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "validate/report.h"

namespace agentrt::validate {

inline constexpr std::size_t kLineBytesMax = 64 * 1024 * 1024;

// The event in a line; nothing for an empty line or a frame of server-sent events.
std::optional<std::string_view> event_in(std::string_view line);

struct Options {
  Profile profile = Profile::full;
  // The stream is known to begin behind this sequence: what came before is not missed.
  Sequence after = 0;
};

class Judge {
 public:
  explicit Judge(Options options = {});
  ~Judge();
  Judge(Judge&&) noexcept;

  // One event. Empty lines and the frames of server-sent events around one are passed over.
  void line(std::string_view text);
  // A line that was too long to be read.
  void skip_line();
  // Something about the stream as a whole, under the rule replay.snapshot.
  void differs(std::string what);
  // No more lines: what the stream as a whole amounts to.
  const Report& finish();

 private:
  struct Court;
  std::unique_ptr<Court> court_;
};

}  // namespace agentrt::validate
