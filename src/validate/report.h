// validate/report.h: what a judge found, and how it is told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "validate/rules.h"

namespace agentrt::validate {

inline constexpr std::size_t kFindingsPerRule = 10;  // kept with their text; the rest is counted

inline constexpr std::size_t kFindingTextMax = 400;  // bytes of any text in a finding

struct Finding {
  std::string_view rule;
  Severity severity = Severity::must;
  std::uint64_t line = 0;  // from 1; 0: about the stream as a whole
  std::string session;
  Sequence sequence = 0;
  std::string type;
  std::string event_id;
  std::string what;
};

struct Report {
  struct Count {
    std::string_view rule;
    std::uint64_t times = 0;
  };

  Profile profile = Profile::full;
  std::uint64_t events = 0;
  std::uint64_t sessions = 0;
  std::uint64_t vendor_events = 0;  // of types outside the standard: kept, not judged
  std::uint64_t unfinished = 0;     // turns that were open when the stream ended
  std::uint64_t skipped = 0;        // lines beyond kLineBytesMax, not judged
  std::uint64_t unjudged = 0;       // facts about objects that ended too long ago to be known
  std::vector<Finding> findings;    // in the order of the stream
  std::vector<Count> counts;        // of broken rules, in the order in which they broke

  std::uint64_t broken(Severity severity) const;  // rules, not findings
  bool conformant() const { return broken(Severity::must) == 0; }
};

enum class Format { text, json, junit };

// What a person or a machine reads. `source` is the file or address that was judged.
std::string render(const Report& report, Format format, std::string_view source);

}  // namespace agentrt::validate
