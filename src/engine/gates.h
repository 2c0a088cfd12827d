// engine/gates.h: the effects that a turn waits for between its requests: hooks, inspections before
// the user is asked, and the timeout of a question.
#pragma once

#include "engine/effects.h"

namespace agentrt::engine {

// Runs a hook and reports its outcome.
class Engine::RunningHook final : public Running {
 public:
  RunningHook(const Parts& parts, const state::Session& view, const RunHook& what);
  ~RunningHook() override;

 private:
  class Listener;
  const Parts& parts_;
  std::string run_;
  std::shared_ptr<Listener> listener_;
};

// Inspects, on a worker, what an approval of a call would be bound to, and reports it.
class Engine::Inspecting final : public Running {
 public:
  Inspecting(const Parts& parts, const state::Session& view, const Inspect& what);
  ~Inspecting() override;

 private:
  std::shared_ptr<bool> wanted_ = std::make_shared<bool>(true);  // core only
};

// Reports that a question was not answered before its deadline.
class Engine::Expiring final : public Running {
 public:
  Expiring(const Parts& parts, const state::Session& view, const AwaitAnswer& what);
  ~Expiring() override;

 private:
  const Parts& parts_;
  ports::Loop::TimerId timer_ = 0;
};

// Reports that the time limit of a wait for subagents has passed.
class Engine::AwaitingSubagents final : public Running {
 public:
  AwaitingSubagents(const Parts& parts, const state::Session& view, const AwaitSubagents& what);
  ~AwaitingSubagents() override;

 private:
  const Parts& parts_;
  ports::Loop::TimerId timer_ = 0;
};

}  // namespace agentrt::engine
