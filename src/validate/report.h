// validate/report.h: the findings of a validation, and how they are rendered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "validate/rules.h"

namespace agentrt::validate {

// stored with text; further ones are only counted
inline constexpr std::size_t kFindingsPerRule = 10;

inline constexpr std::size_t kFindingTextMax = 400;  // bytes of any text in a finding

struct Finding {
  std::string_view rule;
  Severity severity = Severity::must;
  std::uint64_t line = 0;  // from 1; 0: the stream as a whole
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
  std::uint64_t vendor_events = 0;  // of types outside the standard: accepted, not checked
  std::uint64_t unfinished = 0;     // turns that were open when the stream ended
  std::uint64_t skipped = 0;        // lines longer than kLineBytesMax, not checked
  std::uint64_t unjudged = 0;       // facts not checked because their objects were forgotten
  std::vector<Finding> findings;    // in stream order
  std::vector<Count> counts;        // per broken rule, in the order of first occurrence

  std::uint64_t broken(Severity severity) const;  // number of broken rules, not of findings
  bool conformant() const { return broken(Severity::must) == 0; }
};

enum class Format { text, json, junit };

// Renders the report for people or programs. `source` is the file or address that was validated.
std::string render(const Report& report, Format format, std::string_view source);

}  // namespace agentrt::validate
