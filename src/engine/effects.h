// engine/effects.h: the base class of running effects. Each kind of effect is a class that starts
// in its constructor, ends in its destructor, and reports nothing afterwards.
#pragma once

#include <memory>

#include "conversation/material.h"
#include "engine/engine.h"
#include "policy/effective.h"

namespace agentrt::engine {

class Engine::Running {
 public:
  virtual ~Running() = default;
  // Its last report is stored. If the plan still lists the effect, it is started again.
  virtual bool over() const { return false; }
  // Called for an effect that was started speculatively, when its commit has succeeded.
  virtual void stored() {}
  // Called after each commit whose view still calls for the effect.
  virtual void called_again(const Effect&) {}
  // The committed view no longer calls for the effect; the destructor follows.
  virtual void called_off() {}
};

// The call in the view. REQUIRES: it exists.
const state::ToolCall& call_of(const state::Session& view, const TurnId& turn,
                               const ToolCallId& call);

// The id under which the environment of the turn's client is kept: that of its job, if it is an
// item, because all items have the environment of the client that created the job.
TurnId environment_of(const schema::TurnIds& turn);

// The policy that a turn is under. Core only.
policy::Effective effective_policy(const Engine::Parts& parts, const state::Session& view,
                                   const state::Turn& turn);

// Inspects the state that an approval of the call is bound to. Blocks; on a worker.
Result<schema::Binding> look_at(ports::Inspector& inspector, const ports::ProcessRequest& request,
                                const std::vector<std::string>& files);

// The failure of an effect that could not start: `unavailable` and retryable if the machine lacked
// resources (descriptors, memory, a busy worker), otherwise `invalid_input`.
schema::Failure failure_of(const Error& error);

// Runs `task` on the worker as soon as it has room.
void run_soon(ports::Loop& loop, ports::Worker& worker, std::shared_ptr<ports::Step> task);

// The conversation that the turn's requests contain, as the view has it.
ports::HistoryQuery history_of(const state::Session& view, const schema::TurnIds& turn);

// What a turn is asked with, as the view has it, by that one of the candidates. The policy is for
// the caller to add.
conversation::MaterialQuery query_of(const state::Session& view, const schema::TurnIds& turn,
                                     const std::vector<schema::Candidate>& candidates,
                                     const std::string& model, const Engine::Parts& parts);

}  // namespace agentrt::engine
