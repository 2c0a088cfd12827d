// validate/mutation_test.cc: mutates valid streams at random and measures the share that is
// detected.
//
// Each stream is mutated in one place, once raw and once hidden. Hidden means that sequences, event
// ids and times are made consistent afterwards, so that only the meaning of the facts can reveal
// the mutation. The seed is fixed, so the shares are reproducible; docs/conformance.md records
// them.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "validate/judge.h"
#include "validate/testing/mutation.h"

namespace agentrt::validate {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSeed = 20'260'508;
// Mutations per kind. Raw mutations are detected by position and need fewer.
constexpr std::size_t kRawTried = 200;
constexpr std::size_t kHiddenTried = 1000;

struct Row {
  Damage kind;
  std::string_view name;
  std::uint64_t raw_floor, hidden_floor;  // minimum percentage of real damage that must be detected
};
constexpr Row kRows[] = {
    {Damage::drop, "drop", 100, 80},
    {Damage::twice, "double", 100, 93},
    {Damage::swap, "swap", 100, 85},
    {Damage::cut, "cut", 100, 91},
    {Damage::retime, "re-time", 100, 100},
    {Damage::rename_type, "rename a type", 88, 88},
    {Damage::rename_id, "rename an id", 94, 94},
    {Damage::rename_word, "rename a word", 80, 80},
};

enum class Way { raw, hidden };

struct Tally {
  std::uint64_t tried = 0, real = 0, noticed = 0;

  std::uint64_t percent() const { return real == 0 ? 100 : noticed * 100 / real; }
};

// reason -> mutation -> count
using Misses = std::map<std::string, std::map<std::string, std::uint64_t>>;

std::vector<Facts> good_streams() {
  std::vector<Facts> streams;
  for (const Stream& stream : read_streams(stories_folder()))
    streams.push_back(facts_of(stream.lines));
  const fs::path golden = fs::path(stories_folder()).parent_path() / "golden";
  std::set<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(golden))
    if (entry.path().extension() == ".jsonl") paths.insert(entry.path());
  for (const fs::path& path : paths) {
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    streams.push_back(facts_of(lines));
  }
  return streams;
}

bool noticed(const Facts& facts) {
  Judge judge;
  for (const Fact& fact : facts) judge.line(line_of(fact));
  return !judge.finish().counts.empty();
}

std::string what_was_done(const Row& row, const Damaged& damaged) {
  std::string out = fmt::format("{}:", row.name);
  for (const std::string& type : damaged.types) out += " " + type;
  return damaged.member.empty() ? out : out + " (" + damaged.member + ")";
}

// A raw change of order or time is always real damage: it makes the envelopes inconsistent.
Tally measure(const Row& row, Way way, const std::vector<Facts>& streams, Misses& misses) {
  Random random{kSeed};
  Tally tally;
  Damaged damaged;
  while (tally.tried < (way == Way::raw ? kRawTried : kHiddenTried)) {
    if (!damage(row.kind, streams[random() % streams.size()], random, damaged)) continue;
    ++tally.tried;
    const bool by_place = row.raw_floor == 100 && way == Way::raw;
    if (way == Way::hidden) hide(damaged.facts);
    if (!by_place && !harmless(damaged).empty()) continue;
    ++tally.real;
    if (noticed(damaged.facts)) {
      ++tally.noticed;
      continue;
    }
    const std::string_view reason = reason_missed(damaged);
    const std::string what = what_was_done(row, damaged);
    CHECK_MESSAGE(!reason.empty(), what);
    ++misses[std::string(reason)][damaged.kind == Damage::cut ? "cut" : what];
  }
  return tally;
}

}  // namespace

TEST_CASE("real damage to a good stream is noticed, and what is not has its reason") {
  const auto streams = good_streams();
  for (const Facts& stream : streams) REQUIRE(!noticed(stream));
  Misses misses;
  fmt::print("{:<14} {:<7} {:>6} {:>6} {:>8} {:>6}\n", "damage", "", "tried", "real", "noticed",
             "share");
  for (const Row& row : kRows) {
    for (const Way way : {Way::raw, Way::hidden}) {
      const Tally tally = measure(row, way, streams, misses);
      fmt::print("{:<14} {:<7} {:>6} {:>6} {:>8} {:>5}%\n", row.name,
                 way == Way::raw ? "raw" : "hidden", tally.tried, tally.real, tally.noticed,
                 tally.percent());
      CAPTURE(row.name);
      CHECK(tally.percent() >= (way == Way::raw ? row.raw_floor : row.hidden_floor));
    }
  }
  for (const auto& [reason, done] : misses) {
    fmt::print("missed: {}\n", reason);
    for (const auto& [what, times] : done) fmt::print("  {:>4} x {}\n", times, what);
  }
}

TEST_CASE("hiding damage leaves nothing that a place or a time gives away") {
  for (Facts stream : good_streams()) {
    hide(stream);
    CHECK(!noticed(stream));
  }
}

}  // namespace agentrt::validate
