// agentrt_sim: simulates the core of the runtime, one run per seed.
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <thread>

#include <fmt/format.h>

#include "sim/story.h"

namespace agentrt::sim {
namespace {

constexpr int kHolds = 0;
constexpr int kBroken = 1;
constexpr int kUsage = 2;

constexpr const char* kHelp =
    "usage: agentrt_sim [--seeds N] [--from S] [--jobs N]   runs N seeds from S on\n"
    "       agentrt_sim --seed S [--trace]                  runs one, and tells its story\n"
    "       agentrt_sim --plant list                        names the defects that can be planted\n"
    "       agentrt_sim --plant NAME [--seeds N | --seed S [--trace]]   runs with one of them\n"
    "       agentrt_sim --plant all                         shows that each of them is found\n"
    "Exit status: 0 every invariant holds (or every defect is found), 1 one is broken, 2 usage.\n";

struct Arguments {
  Sweep sweep;
  bool seeds_given = false;
  std::optional<std::uint64_t> seed;
  Tell tell = Tell::verdict;
  std::string plant;
};

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return out;
}

// Returns what is wrong with the arguments; empty if they are valid.
std::string read_arguments(int argc, char** argv, Arguments& out) {
  out.sweep.jobs = std::clamp(std::thread::hardware_concurrency(), 1u, kJobsMax);
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--trace") {
      out.tell = Tell::everything;
      continue;
    }
    if (i + 1 == argc) return fmt::format("{}: unknown, or it needs a value", name);
    const std::string_view value = argv[++i];
    if (name == "--plant") {
      out.plant = value;
      continue;
    }
    const auto n = number(value);
    if (!n) return fmt::format("{}: expected a number, got {}", name, value);
    if (name == "--seeds") {
      out.sweep.seeds = *n;
      out.seeds_given = true;
    } else if (name == "--from") {
      out.sweep.from = *n;
    } else if (name == "--seed") {
      out.seed = *n;
    } else if (name == "--jobs" && *n >= 1 && *n <= kJobsMax) {
      out.sweep.jobs = static_cast<unsigned>(*n);
    } else {
      return fmt::format("{} {}: unknown", name, value);
    }
  }
  if (out.tell == Tell::everything && !out.seed) return "--trace: say which --seed";
  return {};
}

using Clock = std::chrono::steady_clock;

std::string summary(const SweepResult& result, Clock::time_point began) {
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  const double years = static_cast<double>(result.counts.simulated_ms) / 1e3 / 86'400 / 365.25;
  return fmt::format(
      "{} seeds, {} steps, {} facts, {} crashes, {:.2f} simulated years in {:.1f} s: {:.0f} "
      "seeds/s, "
      "{:.2f} simulated years a minute",
      result.seeds, result.counts.steps, result.counts.facts, result.counts.crashes, years, seconds,
      static_cast<double>(result.seeds) / seconds, years * 60 / seconds);
}

SweepResult sweep_with_progress(const Sweep& sweep, Clock::time_point began) {
  auto last = began;
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  const SweepResult result = run_sweep(sweep, [&](const SweepResult& so_far) {
    if (!terminal || Clock::now() - last < std::chrono::milliseconds(500)) return;
    last = Clock::now();
    fmt::print(stderr, "\r\033[K{}", summary(so_far, began));
    std::fflush(stderr);
  });
  if (terminal) fmt::print(stderr, "\r\033[K");
  return result;
}

int run_seeds(const Sweep& sweep) {
  const auto began = Clock::now();
  const SweepResult result = sweep_with_progress(sweep, began);
  if (result.failed) fmt::print("{}", tell_story(*result.failed, sweep.plant, {}));
  fmt::print("{}\n", summary(result, began));
  return result.failed ? kBroken : kHolds;
}

int run_one(std::uint64_t seed, Plant plant, Tell tell) {
  if (tell == Tell::verdict) {
    const std::string story = tell_story(seed, plant, {});
    fmt::print("{}", story);
    return story.contains("breaks:") ? kBroken : kHolds;
  }
  const Trial trial = run_trial(draw_plan(seed), plant, Tell::everything);
  for (const std::string& line : trial.lines) fmt::print("{}\n", line);
  if (!trial.broken) return kHolds;
  fmt::print("seed {} breaks: {}\n  {}\n", seed, trial.broken->invariant, trial.broken->what);
  return kBroken;
}

int list_plants() {
  for (const PlantedDefect& defect : planted_defects())
    fmt::print("{:34} {}; found within {} seeds\n", defect.name, defect.what, defect.seeds_max);
  return kHolds;
}

int find_all_plants(Sweep sweep) {
  int out = kHolds;
  for (const PlantedDefect& defect : planted_defects()) {
    sweep.plant = defect.plant;
    sweep.seeds = defect.seeds_max;
    const SweepResult result = run_sweep(sweep, [](const SweepResult&) {});
    if (!result.failed) {
      fmt::print("{:34} NOT FOUND within {} seeds\n", defect.name, defect.seeds_max);
      out = kBroken;
      continue;
    }
    const Trial trial = run_trial(draw_plan(*result.failed), defect.plant, Tell::verdict);
    fmt::print("{:34} seed {} breaks: {}\n", defect.name, *result.failed,
               trial.broken ? trial.broken->invariant : "nothing");
  }
  return out;
}

int usage(std::string_view wrong) {
  fmt::print(stderr, "agentrt_sim: {}\n{}", wrong, kHelp);
  return kUsage;
}

int run(int argc, char** argv) {
  if (argc == 2 && (std::string_view(argv[1]) == "--help" || std::string_view(argv[1]) == "-h")) {
    fmt::print("{}", kHelp);
    return kHolds;
  }
  Arguments arguments;
  if (const auto wrong = read_arguments(argc, argv, arguments); !wrong.empty()) return usage(wrong);
  if (arguments.plant == "list") return list_plants();
  if (arguments.plant == "all") return find_all_plants(arguments.sweep);
  if (!arguments.plant.empty()) {
    const PlantedDefect* defect = find_defect(arguments.plant);
    if (!defect) return usage(fmt::format("--plant {}: no such defect; try list", arguments.plant));
    arguments.sweep.plant = defect->plant;
    if (!arguments.seeds_given) arguments.sweep.seeds = defect->seeds_max;
  }
  if (arguments.seed) return run_one(*arguments.seed, arguments.sweep.plant, arguments.tell);
  return run_seeds(arguments.sweep);
}

}  // namespace
}  // namespace agentrt::sim

int main(int argc, char** argv) { return agentrt::sim::run(argc, argv); }
