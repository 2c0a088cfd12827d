// engine/tools.h: a tool call under way: its process from the gate to its end.
#pragma once

#include "engine/effects.h"
#include "ports/processes.h"

namespace agentrt::engine {

class Engine::RunningTool final : public Running {
 public:
  RunningTool(const Parts& parts, const state::Session& view, const RunTool& what);
  RunningTool(const Parts& parts, const state::Session& view, const FindProcess& what);
  ~RunningTool() override;
  void called_again(const Effect& effect) override;

 private:
  class Listener;
  const Parts& parts_;
  ProcessId process_;
  std::shared_ptr<Listener> listener_;
};

}  // namespace agentrt::engine
