// engine/running_call.h: the effect for a call that runs no process: a file tool, a web tool or an
// MCP tool, from its start to its end.
#pragma once

#include <deque>

#include "engine/effects.h"
#include "ports/tools.h"

namespace agentrt::engine {

inline constexpr std::int64_t kProgressEveryMs = 500;   // minimum interval of progress facts
inline constexpr std::size_t kProgressFactsMax = 200;   // per call
inline constexpr std::size_t kServerQuestionsMax = 16;  // open at once per call

class Engine::RunningCall final : public Running {
 public:
  RunningCall(const Parts& parts, const state::Session& view, const CallTool& what);
  ~RunningCall() override;
  void called_again(const Effect& effect) override;

  // Checks why the call would fail even if the user approved it. Run the result on a worker.
  static std::move_only_function<std::optional<schema::Failure>()> objection(
      const Parts& parts, const state::Session& view, const policy::Effective& policy,
      const state::ToolCall& call);

  // The files that the call would change, as absolute paths with symlinks not resolved.
  static std::vector<std::string> changes(const state::Session& view, const state::ToolCall& call);

 private:
  class Listener;
  const Parts& parts_;
  ToolCallId call_;
  std::shared_ptr<Listener> listener_;
};

}  // namespace agentrt::engine
