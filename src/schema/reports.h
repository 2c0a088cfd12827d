// schema/reports.h: outcomes of effects, on their way back to the one write boundary.
//
// A report is a command with an internal origin: the engine sends it, the same lane takes it, the
// same decision function turns it into facts. It never comes from a wire, so it has no codec.
#pragma once

#include <variant>

#include "schema/facts.h"

namespace agentrt::schema {

// The session was loaded by a runtime of another boot than the one that left work open in it.
struct ReportRestarted {};

// What a turn will be asked with: everything that stands between turn.started and model.requested.
struct ReportPrepared {
  TurnId turn;
  ContextResolved context;
  std::optional<HistoryWindowLoaded> history;
  std::vector<Candidate> candidates;
  std::vector<ExcludedCandidate> excluded;
  std::string default_model;  // names in the configuration
  std::vector<std::string> fallback;
};

// Text the model sent since the last such report, in order.
struct ReportFragments {
  ModelRequestId request;
  struct Piece {
    bool reasoning = false;
    std::string text;
  };
  std::vector<Piece> pieces;
};

struct ReportModelCompleted {
  ModelRequestId request;
  StopReason stop_reason = StopReason::end_turn;
  Usage usage;
  std::vector<ReportFragments::Piece> pieces;  // what had not been reported yet
  // The whole text where it is at most kTextInlineMax bytes, else its beginning.
  std::string text;
  std::uint64_t text_bytes = 0;
  std::string reasoning;
  std::uint64_t reasoning_bytes = 0;
};

struct ReportModelFailed {
  ModelRequestId request;
  std::vector<ReportFragments::Piece> pieces;
  Failure error;
  std::optional<std::uint64_t> provider_status;
  bool ended_by_provider = false;
  std::optional<std::int64_t> retry_after_ms;  // the provider's wish
};

// The instant that model.failed named for asking again has come.
struct ReportRetryDue {
  TurnId turn;
};

using Report = std::variant<ReportRestarted, ReportPrepared, ReportFragments, ReportModelCompleted,
                            ReportModelFailed, ReportRetryDue>;

// Text longer than this stands in a closing fact as a preview and a ref to its deltas.
inline constexpr std::size_t kTextInlineMax = 64 * 1024;
inline constexpr std::size_t kPreviewBytes = 2 * 1024;

}  // namespace agentrt::schema
