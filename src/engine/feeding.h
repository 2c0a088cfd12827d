// engine/feeding.h: the effects of a running job besides the turns of its items.
#pragma once

#include "engine/effects.h"

namespace agentrt::engine {

// Lines of a job's input that one report carries at most; control starts no more per decision.
inline constexpr std::size_t kLinesPerReportMax = 4;

// Reads lines of the input in advance, on a worker, and reports as many as there is room for. Each
// report carries the policy files as they are at that time.
class Engine::Feeding final : public Engine::Running {
 public:
  Feeding(const Parts& parts, const state::Session& view, const FeedJob& what);
  ~Feeding() override;
  void called_again(const Effect& effect) override;

 private:
  struct Shared;
  static void look(const std::shared_ptr<Shared>& shared);
  static void read(const std::shared_ptr<Shared>& shared);
  static void look_later(const std::shared_ptr<Shared>& shared, std::int64_t delay_ms);
  static void report(const std::shared_ptr<Shared>& shared, schema::ReportJobItems report);

  std::shared_ptr<Shared> shared_;
};

// Compares the answer of an item with the schema of its job, on a worker. The answer is read from
// the log, so a restart repeats it.
class Engine::JudgingItem final : public Engine::Running {
 public:
  JudgingItem(const Parts& parts, const state::Session& view, const JudgeItem& what);
  ~JudgingItem() override;

 private:
  struct Shared;
  static void judge(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;
};

// Reports that a job has run for its maximum time.
class Engine::JobTimer final : public Engine::Running {
 public:
  JobTimer(const Parts& parts, const state::Session& view, const AwaitJob& what);
  ~JobTimer() override;

 private:
  struct Shared;
  static void arm(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;
};

}  // namespace agentrt::engine
