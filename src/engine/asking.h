// engine/asking.h: a request to a model, from what it is put together of to its end, and the wait
// before one is made again.
#pragma once

#include "engine/effects.h"

namespace agentrt::engine {

class AnswerListener;

// A model request: gathers its fragments and reports them, then its end.
class Engine::Asking final : public Running {
 public:
  // `files`: what the turn was prepared with; none: they are read again.
  Asking(const Parts& parts, const state::Session& view, const Ask& what, Log log,
         std::shared_ptr<const TurnFiles> files);
  ~Asking() override;
  void stored() override;

 private:
  struct Shared;
  static void gather_all(const std::shared_ptr<Shared>& shared);
  static void ask(const std::shared_ptr<Shared>& shared, Result<ports::ModelRequest> request);

  std::shared_ptr<Shared> shared_;  // core only
};

// Waits for an instant, then reports it.
class Engine::Waiting final : public Running {
 public:
  Waiting(const Parts& parts, const state::Session& view, const AwaitRetry& what);
  ~Waiting() override;

 private:
  const Parts& parts_;
  ports::Loop::TimerId timer_ = 0;
};

}  // namespace agentrt::engine
