// schema/model_reports.h: reports about model requests: streamed text, answers, failures, and the
// steps of a compaction. Part of schema/reports.h.
#pragma once

#include "schema/facts.h"
#include "schema/outputs.h"

namespace agentrt::schema {

// A longer text is stored as an output; the closing fact has a preview and the ref.
inline constexpr std::size_t kTextInlineMax = 64 * 1024;
inline constexpr std::size_t kPreviewBytes = 2 * 1024;

// Text that the model streamed since the last such report, in order, and the calls that it is
// writing.
struct ReportFragments {
  ModelRequestId request;
  struct Piece {
    bool reasoning = false;
    std::string text;
  };
  std::vector<Piece> pieces;
  struct WrittenCall {
    std::size_t number = 0;  // among the calls of the answer, from 0
    std::string name;
    std::string preview;      // as in ItemUpdated
    std::uint64_t bytes = 0;  // of the arguments so far
  };
  std::vector<WrittenCall> calls = {};
};

// A tool call requested by the model.
struct AskedCall {
  std::string name;
  Json args;
  bool args_omitted = false;  // they exceed the size limit
  // Why the call is refused: the arguments fail the tool's schema, or the answer exceeds a limit.
  std::optional<std::string> wrong = {};
};

// Refs of the raw request and response of a model request.
struct KeptExchange {
  KeptOutput request;
  KeptOutput response;
};

struct ReportModelCompleted {
  ModelRequestId request;
  std::vector<AskedCall> calls;
  StopReason stop_reason = StopReason::end_turn;
  Usage usage;
  std::vector<ReportFragments::Piece> pieces;  // not reported yet
  // The complete text if it has at most kTextInlineMax bytes, otherwise its beginning.
  std::string text;
  std::uint64_t text_bytes = 0;
  std::optional<KeptOutput> whole_text = {};  // of a longer text, unless it could not be stored
  std::string reasoning;
  std::uint64_t reasoning_bytes = 0;
  std::optional<Json> provider_state;  // at most kTextInlineMax bytes
  std::optional<KeptExchange> raw;
  std::optional<std::int64_t> first_token_ms = {};
};

struct ReportModelFailed {
  ModelRequestId request;
  std::vector<ReportFragments::Piece> pieces;
  Failure error;
  std::optional<std::uint64_t> provider_status;
  bool ended_by_provider = false;
  std::optional<FaultCause> cause = {};        // as in ModelFailed
  std::optional<std::int64_t> retry_after_ms;  // requested by the provider
  // What the model had sent: the complete text if it has at most kTextInlineMax bytes, otherwise
  // its beginning.
  std::string text = {};
  std::uint64_t text_bytes = 0;
  std::string reasoning = {};
  std::uint64_t reasoning_bytes = 0;
  std::optional<KeptExchange> raw;
  std::optional<std::int64_t> first_token_ms = {};
};

// What a compaction will cover and how many requests it needs, or why it cannot be made; then the
// model that writes the summary.
struct ReportCompactionPlanned {
  TurnId turn;
  Sequence covers_through = 0;
  std::uint64_t turns = 0;
  std::uint64_t tokens_before = 0;
  std::uint64_t pieces = 0;         // 0: there is nothing to summarise
  std::uint64_t omitted_bytes = 0;  // of the oldest text, which does not fit into the pieces
  std::string provider;
  std::string model;
  std::string model_name;
  std::optional<Failure> failure = {};
  std::vector<std::string> piece_digests = {};  // as in CompactionStarted
  std::uint64_t window_tokens = 0;
};

// The summary of a compaction is complete, and stored with the continuation.
struct ReportCompacted {
  TurnId turn;
  std::optional<KeptOutput> summary = {};
  std::optional<KeptOutput> continuation = {};
  std::uint64_t tokens_after = 0;
  std::vector<std::string> refs = {};  // of outputs that it names
  std::optional<Failure> failure = {};
};

}  // namespace agentrt::schema
