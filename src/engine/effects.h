// engine/effects.h: what the effects under way have in common. Each kind is a class that begins in
// its constructor, ends in its destructor and reports nothing after that.
#pragma once

#include <memory>

#include "conversation/material.h"
#include "engine/engine.h"
#include "policy/effective.h"

namespace agentrt::engine {

class Engine::Running {
 public:
  virtual ~Running() = default;
  // It has said all it will say, and that is stored: where its effect is still called for, it is
  // called for anew.
  virtual bool over() const { return false; }
  // It was begun while the view that calls for it was being stored, and now that is.
  virtual void stored() {}
  // It is still called for, by a view that a commit has just left.
  virtual void called_again(const Effect&) {}
  // Such a view no longer calls for it; its destructor follows.
  virtual void called_off() {}
};

// The call, which the view holds. REQUIRES: it does.
const state::ToolCall& call_of(const state::Session& view, const TurnId& turn,
                               const ToolCallId& call);

// The policy that a turn is under. Core only.
policy::Effective effective_policy(const Engine::Parts& parts, const state::Session& view,
                                   const state::Turn& turn);

// What an answer about the call is bound to, as the world is now. Blocks; on a worker.
Result<schema::Binding> look_at(ports::Inspector& inspector, const ports::ProcessRequest& request,
                                const std::vector<std::string>& files);

// What an effect that could not be begun fails with: `unavailable` and worth a retry where the
// machine had no room for it (descriptors, memory, an overloaded worker), else `invalid_input`.
schema::Failure failure_of(const Error& error);

// Runs `task` on the worker as soon as it has room.
void run_soon(ports::Loop& loop, ports::Worker& worker, std::shared_ptr<ports::Step> task);

// What a turn is asked with, as the view has it, by that one of the candidates. The policy is for
// the caller to add.
conversation::MaterialQuery query_of(const state::Session& view, const schema::TurnIds& turn,
                                     const std::vector<schema::Candidate>& candidates,
                                     const std::string& model);

}  // namespace agentrt::engine
