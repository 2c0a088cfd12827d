// adapters/models/script.h: a model that plays a file, for tests, demos and rehearsals.
//
// A script is JSON lines. A request plays line 1 + (requests of its turn that ended by the
// provider's word), so a turn that goes on after a crash plays on where it was; past the last line
// the answer is "done". A line is an answer
//   {"text": "…", "reasoning": "…", "deltas": 20, "deltaMs": 0, "delayMs": 0, "stopReason":
//   "end_turn",
//    "toolCalls": [{"name": "shell", "args": {"command": "ls"}}],
//    "usage": {"inputTokens": 10, "outputTokens": 5}}
// or a failure
//   {"fail": {"status": 429, "retryAfterMs": 50, "message": "…"}, "delayMs": 0}
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "ports/loop.h"
#include "ports/models.h"

namespace agentrt::adapters {

// The line that a request plays, or why there is none.
struct ScriptLine {
  std::string text;
  std::string reasoning;
  std::uint64_t deltas = 1;
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

// Reads line `number` (from 1) of a script's text.
Result<ScriptLine> read_script_line(std::string_view script, std::uint64_t number);

// `text` in `count` pieces of about the same size, no character split.
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
