// adapters/models/script.h: a fake model that plays a script file, for tests and demos.
//
// A script is JSON lines. A request plays line 1 + (earlier requests of its turn that the provider
// ended), so a turn that resumes after a crash continues where it was. Past the last line the
// answer is "done". A line is an answer
//   {"text": "…", "reasoning": "…", "deltas": 20, "deltaMs": 0, "delayMs": 0,
//    "stopReason": "end_turn", "argDeltas": 0,
//    "toolCalls": [{"name": "shell", "args": {"command": "ls"}}],
//    "usage": {"inputTokens": 10, "outputTokens": 5}}
// With argDeltas, the arguments of each call arrive in so many pieces before the call is complete.
// Or a line is a failure, which follows the pieces of its calls, if any:
//   {"fail": {"status": 429, "retryAfterMs": 50, "message": "…"}, "delayMs": 0}
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "ports/loop.h"
#include "ports/models.h"

namespace agentrt::adapters {

// One parsed line of a script: an answer, or a failure in `fault`.
struct ScriptLine {
  std::string text;
  std::string reasoning;
  std::uint64_t deltas = 1;
  std::uint64_t arg_deltas = 0;
  std::int64_t delta_ms = 0;
  std::int64_t delay_ms = 0;
  schema::StopReason stop_reason = schema::StopReason::end_turn;
  schema::Usage usage;
  struct Call {
    std::string name;
    schema::Json args;
  };
  std::vector<Call> calls;
  std::optional<ports::ModelFault> fault;
};

// Parses line `number` (from 1) of a script's text.
Result<ScriptLine> read_script_line(std::string_view script, std::uint64_t number);

// Splits `text` into `count` pieces of about equal size, without splitting a character.
std::vector<std::string> split_text(std::string_view text, std::uint64_t count);

// Plays scripts. Core only; files are read on the worker.
class ScriptPlayer {
 public:
  ScriptPlayer(ports::Loop& loop, ports::Worker& worker) : loop_(loop), worker_(worker) {}

  void start(const std::string& path, const ModelRequestId& id, std::uint64_t line,
             std::shared_ptr<ports::ModelListener> listener);
  void cancel(const ModelRequestId& id) { playing_.erase(id); }

 private:
  struct Playing;

  void play(const ModelRequestId& id, Result<ScriptLine> line);
  void next(const ModelRequestId& id);

  ports::Loop& loop_;
  ports::Worker& worker_;
  std::unordered_map<ModelRequestId, std::shared_ptr<Playing>> playing_;
};

}  // namespace agentrt::adapters
