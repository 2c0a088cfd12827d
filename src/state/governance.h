// state/governance.h: what was decided about the calls of a session or thread, and what sandboxes
// have stopped. Part of the session read model (state/session.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schema/facts.h"

namespace agentrt::state {

inline constexpr std::size_t kViolationsKept = 16;

// How often a source has decided about calls in this way.
struct DecisionCount {
  schema::DecisionSource source = schema::DecisionSource::mode;
  schema::Decision decision = schema::Decision::allow;
  std::uint64_t count = 0;

  bool operator==(const DecisionCount&) const = default;
};
BOOST_DESCRIBE_STRUCT(DecisionCount, (), (source, decision, count))

// A sandbox.violation.
struct SeenViolation {
  Sequence sequence = 0;
  Timestamp at;
  schema::ViolationKind kind = schema::ViolationKind::filesystem;
  std::string attempted;
  std::string layer;
  std::optional<bool> advisory;
  TurnId turn_id;
  ProcessId process_id;

  bool operator==(const SeenViolation&) const = default;
};
BOOST_DESCRIBE_STRUCT(SeenViolation, (),
                      (sequence, at, kind, attempted, layer, advisory, turn_id, process_id))

// What was decided about calls, and what sandboxes have stopped.
struct Governance {
  std::vector<DecisionCount> decisions;  // one entry per source and decision
  std::uint64_t violations = 0;
  std::vector<SeenViolation> newest;  // of these; at most kViolationsKept

  bool operator==(const Governance&) const = default;
};
BOOST_DESCRIBE_STRUCT(Governance, (), (decisions, violations, newest))

}  // namespace agentrt::state
