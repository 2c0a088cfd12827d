// engine/asking.h: the effects for a model request, from assembling it to its end, and for the
// delay before a retry.
#pragma once

#include "engine/effects.h"

namespace agentrt::engine {

class AnswerListener;

// A model request: assembles and sends it, and reports its fragments and its end.
class Engine::Asking final : public Running {
 public:
  // `files`: the files that the turn was prepared with; null: they are read again.
  Asking(const Parts& parts, const state::Session& view, const Ask& what, Log log,
         std::shared_ptr<const conversation::TurnFiles> files);
  ~Asking() override;
  void stored() override;

 private:
  struct Shared;
  static void gather_all(const std::shared_ptr<Shared>& shared);
  static void ask(const std::shared_ptr<Shared>& shared, Result<ports::ModelRequest> request);
  static void end_late(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;  // core only
};

// Waits until a retry is due, then reports that.
class Engine::Waiting final : public Running {
 public:
  Waiting(const Parts& parts, const state::Session& view, const AwaitRetry& what);
  ~Waiting() override;

 private:
  const Parts& parts_;
  ports::Loop::TimerId timer_ = 0;
};

}  // namespace agentrt::engine
