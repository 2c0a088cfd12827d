// engine/running_process.h: the effect of a tool call with a process, from the gate to its end. A
// background process is followed beyond the end of its call.
#pragma once

#include <functional>

#include "engine/effects.h"
#include "ports/processes.h"

namespace agentrt::engine {

class Engine::RunningProcess final : public Running {
 public:
  // The approved files of a job, by the approved call: get and keep them.
  using HeldBy = std::function<std::shared_ptr<const ports::HeldFiles>(const ToolCallId& approved)>;
  using Keep =
      std::function<void(const ToolCallId& approved, std::shared_ptr<const ports::HeldFiles> held)>;
  RunningProcess(const Parts& parts, const state::Session& view, const RunProcess& what, Log log,
                 const HeldBy& held_by, Keep keep);
  RunningProcess(const Parts& parts, const state::Session& view, const FindProcess& what);
  RunningProcess(const Parts& parts, const state::Session& view, const FollowProcess& what);
  ~RunningProcess() override;
  void stored() override;
  void called_again(const Effect& effect) override;
  void called_off() override;

  // What a call asks for, of a call that runs no process what one would get. invalid_params: its
  // arguments are none.
  static Result<ports::ProcessRequest> request_of(const state::Session& view, const TurnId& turn,
                                                  const policy::Effective& policy,
                                                  const state::ToolCall& call);
  // The workspace files that it provably executes, or changes.
  static std::vector<std::string> executes(const state::Session& view,
                                           const policy::Effective& policy,
                                           const state::ToolCall& call);

  // The files that its redirections would overwrite, if nothing else in it is destructive.
  static std::vector<std::string> overwrites(const state::Session& view,
                                             const state::ToolCall& call);

 private:
  class Listener;
  void end_once();
  const Parts& parts_;
  ProcessId process_;
  std::shared_ptr<Listener> listener_;
  bool ending_ = false;
};

}  // namespace agentrt::engine
