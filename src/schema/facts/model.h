// schema/facts/model.h: requests to a model, their streamed output, and their outcomes.
#pragma once

#include "schema/scope.h"
#include "schema/values.h"

namespace agentrt::schema {

// Why a provider gave no answer. It decides whether the request is retried, and whether the next
// model of the fallback chain is asked (policy/fallback.h).
BOOST_DEFINE_ENUM_CLASS(FaultCause,
                        server,         // an error of the provider
                        overloaded,     // too many requests in general
                        connection,     // no connection, or it broke
                        timeout,        // no connection, no first byte or no end in time
                        stalled,        // the answer stopped arriving
                        empty,          // an answer without text and calls
                        malformed,      // an answer that cannot be decoded, or is too large
                        rate_limit,     // too many requests of this account
                        no_credit,      // the account has no credit left
                        credential,     // the API key is missing or rejected
                        unknown_model,  // the provider or the configuration lacks the model
                        context_size,   // the request is longer than the model's context
                        content,        // a content filter or a refusal
                        invalid)        // the provider rejects the request

// The intent, stored before the provider is called.
struct ModelRequested {
  static constexpr std::string_view kType = "model.requested";
  using Scope = ModelScope;
  std::string provider;
  std::string model;
  std::string model_name;    // the candidate's name in the configuration
  std::string request_ref;   // log:N, the turn.submitted that holds the input
  std::uint64_t number = 1;  // of the request within its turn, from 1
  BootId boot_id;
  std::optional<std::string> purpose = {};  // compaction; absent: an answer for the turn
  // Of the request, independent of the provider (docs/replay.md). Absent: an earlier version
  // prepared the turn.
  std::optional<std::string> request_digest = {};

  bool operator==(const ModelRequested&) const = default;
};
BOOST_DESCRIBE_STRUCT(ModelRequested, (),
                      (provider, model, model_name, request_ref, number, boot_id, purpose,
                       request_digest))

struct ModelDelta {
  static constexpr std::string_view kType = "model.delta";
  using Scope = ModelScope;
  std::string text;

  bool operator==(const ModelDelta&) const = default;
};
BOOST_DESCRIBE_STRUCT(ModelDelta, (), (text))

// `text` is complete, or it is absent and output_ref names the whole text: an output, or in older
// logs the facts whose deltas make it up.
struct ModelCompleted {
  static constexpr std::string_view kType = "model.completed";
  using Scope = ModelScope;
  std::optional<std::string> text;
  std::optional<std::string> preview;
  std::optional<std::string> output_ref;  // out_…, or log:FIRST-LAST
  std::vector<RequestedCall> tool_calls;
  StopReason stop_reason = StopReason::end_turn;
  Usage usage;
  std::string provider;
  std::string model;
  std::int64_t duration_ms = 0;
  // The raw request and response, if the model's configuration says to keep them.
  std::optional<std::string> raw_request_ref;
  std::optional<std::string> raw_response_ref;
  // Opaque provider data that must be sent back with the results of the calls.
  std::optional<Json> provider_state;
  std::optional<std::string> purpose = {};  // as in model.requested
  // From the start of the request to its first text, reasoning or call.
  std::optional<std::int64_t> first_token_ms = {};

  bool operator==(const ModelCompleted&) const = default;
};
BOOST_DESCRIBE_STRUCT(ModelCompleted, (),
                      (text, preview, output_ref, tool_calls, stop_reason, usage, provider, model,
                       duration_ms, raw_request_ref, raw_response_ref, provider_state, purpose,
                       first_token_ms))

// When the turn will retry the request; absent if it will not.
struct ModelRetry {
  std::uint64_t number = 1;  // of consecutive retries, from 1
  std::int64_t after_ms = 0;
  Timestamp at;

  bool operator==(const ModelRetry&) const = default;
};
BOOST_DESCRIBE_STRUCT(ModelRetry, (), (number, after_ms, at))

struct ModelFailed {
  static constexpr std::string_view kType = "model.failed";
  using Scope = ModelScope;
  Failure error;
  std::optional<std::uint64_t> provider_status;  // the provider's own status, e.g. 429
  bool ended_by_provider = false;                // false: the runtime or a crash ended the request
  std::optional<ModelRetry> retry;
  std::string provider;
  std::string model;
  std::int64_t duration_ms = 0;
  std::optional<std::string> raw_request_ref;
  std::optional<std::string> raw_response_ref;
  std::optional<FaultCause> cause = {};  // absent: the runtime or a crash ended the request
  std::optional<std::int64_t> first_token_ms = {};  // absent: nothing had arrived

  bool operator==(const ModelFailed&) const = default;
};
BOOST_DESCRIBE_STRUCT(ModelFailed, (),
                      (error, provider_status, ended_by_provider, retry, provider, model,
                       duration_ms, raw_request_ref, raw_response_ref, cause, first_token_ms))

struct ReasoningDelta {
  static constexpr std::string_view kType = "reasoning.delta";
  using Scope = ModelScope;
  std::string text;

  bool operator==(const ReasoningDelta&) const = default;
};
BOOST_DESCRIBE_STRUCT(ReasoningDelta, (), (text))

struct ReasoningSummary {
  static constexpr std::string_view kType = "reasoning.summary";
  using Scope = ModelScope;
  std::optional<std::string> text;
  std::optional<std::string> preview;
  std::optional<std::string> output_ref;

  bool operator==(const ReasoningSummary&) const = default;
};
BOOST_DESCRIBE_STRUCT(ReasoningSummary, (), (text, preview, output_ref))

}  // namespace agentrt::schema
