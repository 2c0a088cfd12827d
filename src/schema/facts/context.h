// schema/facts/context.h: the inputs of a turn: context, tools, history.
#pragma once

#include "schema/environment.h"
#include "schema/scope.h"
#include "schema/tools.h"
#include "schema/values.h"

namespace agentrt::schema {

struct ContextRef {
  std::string ref;  // file:PATH, output:REF; of a text of the runtime itself builtin:NAME
  std::optional<std::string> digest;
  std::optional<std::uint64_t> size;
  std::optional<std::string> reason;  // why it was omitted or is missing
  // The stored bytes that the model gets, as long as the session exists: the copy of a file of the
  // input, or a part of the instructions. The instructions are the parts of instruction_refs, in
  // order.
  std::optional<std::string> output_ref = {};
  std::optional<std::string> media_type = {};     // of an image or document; absent: sent as text
  std::optional<std::string> output_digest = {};  // of the bytes of output_ref, in instruction_refs

  bool operator==(const ContextRef&) const = default;
};
BOOST_DESCRIBE_STRUCT(ContextRef, (),
                      (ref, digest, size, reason, output_ref, media_type, output_digest))

// How much of the model's context window the turn's first request uses, in tokens.
struct ContextTokens {
  std::uint64_t used = 0;
  std::uint64_t limit = 0;
  std::string source;  // estimate, or usage: the provider's count plus the estimate of what is new

  bool operator==(const ContextTokens&) const = default;
};
BOOST_DESCRIBE_STRUCT(ContextTokens, (), (used, limit, source))

// Whether the requests of the turn start with the last request of the thread, byte for byte, so
// that the provider's prompt cache applies.
struct ContextPrefix {
  std::string status;  // new: the thread has sent nothing yet; same; changed
  // Of `changed`: compacted, rolled_back, erased, omitted, model, tools, instructions.
  std::optional<std::string> reason = {};

  bool operator==(const ContextPrefix&) const = default;
};
BOOST_DESCRIBE_STRUCT(ContextPrefix, (), (status, reason))

struct ContextResolved {
  static constexpr std::string_view kType = "context.resolved";
  using Scope = TurnScope;
  std::string cwd;
  std::vector<ContextRef> instruction_refs;
  std::vector<ContextRef> workspace_refs;
  std::vector<ContextRef> memory_refs;
  std::vector<ContextRef> omitted;
  std::vector<ContextRef> missing;
  std::optional<RecordedEnvironment> environment;  // of the turn's commands
  // What the model knows from this turn on, and the message about it that precedes the turn's
  // input: all of it in the first turn of a thread, later what has changed. Absent: nothing has
  // changed. Each later request repeats the message.
  std::optional<Surroundings> surroundings;
  std::optional<std::string> message;
  std::optional<ContextTokens> tokens = {};
  std::optional<ContextPrefix> prefix = {};
  std::optional<std::string> instructions_digest = {};  // of the system prompt with instructions
  // Turns that ended at or before this sequence are not sent, because they do not fit.
  std::optional<Sequence> omitted_through = {};
  // Digests of the messages before those of the turn, and of the turn's input (docs/replay.md). A
  // turn that was answered before it was prepared again keeps that of its input.
  std::optional<std::string> history_digest = {};
  std::optional<std::string> input_digest = {};
  std::optional<std::string> home = {};  // what ~ in permission rules stands for

  bool operator==(const ContextResolved&) const = default;
};
BOOST_DESCRIBE_STRUCT(ContextResolved, (),
                      (cwd, instruction_refs, workspace_refs, memory_refs, omitted, missing,
                       environment, surroundings, message, tokens, prefix, instructions_digest,
                       omitted_through, history_digest, input_digest, home))

// Appended when a turn is prepared, and again within the turn when an MCP server that was still
// starting is ready. The newest one applies. If it equals the last complete one of the session, it
// names that one and has neither `tools` nor `missing`.
struct ToolCatalogResolved {
  static constexpr std::string_view kType = "tool.catalog.resolved";
  using Scope = TurnScope;
  std::optional<std::vector<CatalogTool>> tools;
  std::optional<std::vector<MissingServer>> missing;  // MCP servers whose tools are unavailable
  std::optional<std::string> same_as = {};            // log:N, the last complete one
  std::optional<std::string> digest = {};             // of tools and missing
  std::optional<std::uint64_t> count = {};            // of tools
  std::optional<std::string> offered_digest = {};     // of the tools that the model is offered

  bool operator==(const ToolCatalogResolved&) const = default;
};
BOOST_DESCRIBE_STRUCT(ToolCatalogResolved, (),
                      (tools, missing, same_as, digest, count, offered_digest))

// Earlier turns of the thread were loaded from the log for this turn.
struct HistoryWindowLoaded {
  static constexpr std::string_view kType = "history.window.loaded";
  using Scope = ThreadScope;
  std::uint64_t turns = 0;
  std::uint64_t omitted = 0;  // earlier turns that are not included
  Sequence from_sequence = 0;
  Sequence to_sequence = 0;

  bool operator==(const HistoryWindowLoaded&) const = default;
};
BOOST_DESCRIBE_STRUCT(HistoryWindowLoaded, (), (turns, omitted, from_sequence, to_sequence))

// After a restart, the thread's state was rebuilt from the log and its turn resumed.
struct HistoryReconstructed {
  static constexpr std::string_view kType = "history.reconstructed";
  using Scope = ThreadScope;
  TurnId turn_id;
  Sequence as_of_sequence = 0;
  std::string source;  // log

  bool operator==(const HistoryReconstructed&) const = default;
};
BOOST_DESCRIBE_STRUCT(HistoryReconstructed, (), (turn_id, as_of_sequence, source))

}  // namespace agentrt::schema
