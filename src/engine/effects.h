// engine/effects.h: the effects under way, one class a kind. Each starts in its constructor, ends
// in its destructor, and reports at most once after it was destroyed: never.
#pragma once

#include <map>
#include <memory>

#include "engine/engine.h"

namespace agentrt::engine {

class Engine::Running {
 public:
  virtual ~Running() = default;
  // It has said all it will say, and that is stored: where its effect is still called for, it is
  // called for anew.
  virtual bool over() const { return false; }
  // It is still called for, by a view that a commit has just left.
  virtual void called_again(const Effect&) {}
};

// Runs `task` on the worker as soon as it has room.
void run_soon(ports::Loop& loop, ports::Worker& worker, std::shared_ptr<ports::Step> task);

// Reads instructions, history and policy on a worker, then reports the turn prepared.
class Engine::Preparing final : public Running {
 public:
  Preparing(const Parts& parts, const state::Session& view, const Prepare& what);
  ~Preparing() override;
  bool over() const override { return *over_; }

 private:
  std::shared_ptr<bool> wanted_ = std::make_shared<bool>(true);  // core only
  std::shared_ptr<bool> over_ = std::make_shared<bool>(false);   // core only
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

// A model request: gathers its fragments and reports them, then its end.
class Engine::Asking final : public Running {
 public:
  Asking(const Parts& parts, const state::Session& view, const Ask& what);
  ~Asking() override;

 private:
  class Listener;

  const Parts& parts_;
  ModelRequestId request_;
  std::shared_ptr<Listener> listener_;
};

}  // namespace agentrt::engine
