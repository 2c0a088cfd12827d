// engine/calls.h: a call under way that runs no process: a file tool or the tool of a server, from
// its start to its end.
#pragma once

#include <deque>

#include "engine/effects.h"
#include "ports/tools.h"

namespace agentrt::engine {

inline constexpr std::int64_t kProgressEveryMs = 500;   // facts about how far a call is
inline constexpr std::size_t kProgressFactsMax = 200;   // of one call
inline constexpr std::size_t kServerQuestionsMax = 16;  // of one call, at once

class Engine::MakingCall final : public Running {
 public:
  MakingCall(const Parts& parts, const state::Session& view, const MakeCall& what);
  ~MakingCall() override;
  void called_again(const Effect& effect) override;

  // Looks why the call would be refused although a person allowed it. To be run on a worker.
  static std::move_only_function<std::optional<schema::Failure>()> objection(
      const Parts& parts, const state::Session& view, const state::Turn& turn,
      const state::ToolCall& call);

  // The files that the call would change, absolute as they are written.
  static std::vector<std::string> changes(const state::Session& view, const state::ToolCall& call);

 private:
  class Listener;
  const Parts& parts_;
  ToolCallId call_;
  std::shared_ptr<Listener> listener_;
};

}  // namespace agentrt::engine
