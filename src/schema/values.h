// schema/values.h: small values shared by several facts and commands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "schema/codec.h"
#include "schema/statuses.h"

namespace agentrt::schema {

BOOST_DEFINE_ENUM_CLASS(InputKind, text, file, output)

// One part of a turn's input: {"type": "text", "text": …}, {"type": "file", "path": …} (a file of
// the workspace) or {"type": "output", "ref": …} (bytes that were uploaded to the session).
struct InputPart {
  InputKind type = InputKind::text;
  std::optional<std::string> text;
  std::optional<std::string> path;
  std::optional<std::string> ref = {};

  bool operator==(const InputPart&) const = default;
};
BOOST_DESCRIBE_STRUCT(InputPart, (), (type, text, path, ref))

struct TurnOptions {
  std::optional<std::string> model;
  // Models to try in this order if the selected one fails; instead of the configured ones.
  std::optional<std::vector<std::string>> fallback = {};
  std::optional<PermissionMode> mode;
  std::optional<SandboxMode> sandbox;
  std::optional<std::string> cwd;
  std::optional<std::vector<std::string>> additional_roots;
  std::optional<bool> interactive;  // whether a question may wait for a person; default: true
  std::optional<bool> ask_trust;    // ask interactively whether to trust the workspace's files
  std::optional<std::int64_t> ask_timeout_ms;  // how long a question waits; default: no limit
  std::optional<QueuePolicy> queue_policy;
  std::optional<std::vector<std::string>> tools;  // the only ones that the turn may call
  // Whether the turn resumes by itself after a restart of the runtime; default: [runtime] resume.
  std::optional<bool> resume = {};

  bool operator==(const TurnOptions&) const = default;
};
BOOST_DESCRIBE_STRUCT(TurnOptions, (),
                      (model, fallback, mode, sandbox, cwd, additional_roots, interactive,
                       ask_trust, ask_timeout_ms, queue_policy, tools, resume))

// A tool call that a model requests.
struct RequestedCall {
  ToolCallId tool_call_id;
  std::string name;
  Json args;                         // exactly as the model wrote them
  std::optional<bool> args_omitted;  // the arguments were too large to store; the call is refused
  std::optional<std::string> wrong;  // why it is invalid, e.g. it fails the MCP tool's schema

  bool operator==(const RequestedCall&) const = default;
};
BOOST_DESCRIBE_STRUCT(RequestedCall, (), (tool_call_id, name, args, args_omitted, wrong))

struct Usage {
  std::uint64_t input_tokens = 0;
  std::uint64_t output_tokens = 0;
  std::optional<std::uint64_t> cached_tokens;
  std::optional<std::uint64_t> reasoning_tokens;

  bool operator==(const Usage&) const = default;
};
BOOST_DESCRIBE_STRUCT(Usage, (), (input_tokens, output_tokens, cached_tokens, reasoning_tokens))

struct Failure {
  Category category = Category::internal;
  std::string message;
  bool retryable = false;

  bool operator==(const Failure&) const = default;
};
BOOST_DESCRIBE_STRUCT(Failure, (), (category, message, retryable))

// The place in the log from which a thread was forked: the end of a turn.
struct ForkPoint {
  SessionId session_id;
  ThreadId thread_id;
  TurnId turn_id;         // the last turn that the fork inherits
  Sequence sequence = 0;  // of the fact that ended it
  std::string hash;       // of that fact, in hex: see docs/log_format.md

  bool operator==(const ForkPoint&) const = default;
};
BOOST_DESCRIBE_STRUCT(ForkPoint, (), (session_id, thread_id, turn_id, sequence, hash))

}  // namespace agentrt::schema
