// validate/judge.h: validates a stream of events line by line against the rules of the standard.
//
// The stream may come from any runtime and contain any number of sessions. Memory is bounded
// whatever the length (table.h). Work that is open when the stream ends counts as unfinished, not
// as a violation. Not thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "validate/report.h"

namespace agentrt::validate {

inline constexpr std::size_t kLineBytesMax = 64 * 1024 * 1024;

// The event in a line; nullopt for an empty line or a framing line of server-sent events.
std::optional<std::string_view> event_in(std::string_view line);

struct Options {
  Profile profile = Profile::full;
  // The stream is known to begin after this sequence; earlier events are not reported as missing.
  Sequence after = 0;
};

class Judge {
 public:
  explicit Judge(Options options = {});
  ~Judge();
  Judge(Judge&&) noexcept;

  // Validates one event. Ignores empty lines and the framing of server-sent events.
  void line(std::string_view text);
  // Counts a line that exceeds the length limit.
  void skip_line();
  // Reports a finding about the whole stream, under the rule replay.snapshot.
  void differs(std::string what);
  // Ends the stream and returns the report.
  const Report& finish();

 private:
  struct Court;
  std::unique_ptr<Court> court_;
};

}  // namespace agentrt::validate
