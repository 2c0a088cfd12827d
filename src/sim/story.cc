#include "sim/story.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

namespace agentrt::sim {
namespace {

constexpr std::size_t kLinesMax = 60;

class Cutter {
 public:
  Cutter(Plant plant, const std::string& invariant, const CutLimits& limits)
      : plant_(plant), invariant_(invariant), limits_(limits) {}

  // Removes ever smaller runs of actions until none can be removed.
  Plan cut(Plan plan) {
    std::size_t size = std::max<std::size_t>(plan.actions.size() / 2, 1);
    while (size > 0 && !over())
      if (!pass(plan, size)) size /= 2;
    return plan;
  }

 private:
  bool over() const {
    return trials_ >= limits_.trials_max || std::chrono::steady_clock::now() - began_ >
                                                std::chrono::milliseconds(limits_.wall_ms_max);
  }
  // Tries to remove each run of `size` actions, last first; returns whether one was removed.
  bool pass(Plan& plan, std::size_t size) {
    bool shorter = false;
    for (std::size_t end = plan.actions.size(); end > 0 && !over();) {
      const std::size_t begin = end - std::min(size, end);
      Plan less = plan;
      less.actions.erase(less.actions.begin() + static_cast<std::ptrdiff_t>(begin),
                         less.actions.begin() + static_cast<std::ptrdiff_t>(end));
      ++trials_;
      const Trial trial = run_trial(less, plant_, Tell::verdict);
      if (trial.broken && trial.broken->invariant == invariant_) {
        plan = std::move(less);
        shorter = true;
      }
      end = begin;
    }
    return shorter;
  }

  Plant plant_;
  const std::string& invariant_;
  const CutLimits& limits_;
  std::size_t trials_ = 0;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace

Plan cut(const Plan& plan, Plant plant, const std::string& invariant, const CutLimits& limits) {
  return Cutter{plant, invariant, limits}.cut(plan);
}

std::string command_line(std::uint64_t seed, Plant plant) {
  std::string out = fmt::format("./dev sim --seed {} --trace", seed);
  for (const PlantedDefect& defect : planted_defects())
    if (defect.plant == plant) out += fmt::format(" --plant {}", defect.name);
  return out;
}

std::string tell_story(std::uint64_t seed, Plant plant, const CutLimits& limits) {
  const Plan whole = draw_plan(seed);
  const Trial first = run_trial(whole, plant, Tell::verdict);
  if (!first.broken) return fmt::format("seed {}: every invariant holds\n", seed);
  const Plan less = cut(whole, plant, first.broken->invariant, limits);
  const Trial told = run_trial(less, plant, Tell::everything);
  const Violation& broken = told.broken ? *told.broken : *first.broken;
  std::string out = fmt::format("seed {} breaks: {}\n  {}\nagain: {}\n", seed, broken.invariant,
                                broken.what, command_line(seed, plant));
  out += fmt::format("{} of its {} actions are enough; this is how it goes:\n", less.actions.size(),
                     whole.actions.size());
  const std::size_t skip = told.lines.size() - std::min(told.lines.size(), kLinesMax);
  if (skip > 0) out += fmt::format("  ({} lines before)\n", skip);
  for (std::size_t i = skip; i < told.lines.size(); ++i)
    out += fmt::format("  {}\n", told.lines[i]);
  return out;
}

}  // namespace agentrt::sim
