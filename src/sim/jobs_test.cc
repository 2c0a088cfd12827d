// sim/jobs_test.cc: jobs under virtual time, with crashes between any two steps. A planted defect
// proves that the check finds an item that runs twice.
#include <doctest/doctest.h>

#include <map>

#include <fmt/format.h>

#include "sim/checks.h"
#include "sim/node.h"

namespace agentrt::sim {
namespace {

using namespace schema;

constexpr std::uint64_t kItems = 11;
constexpr std::uint64_t kSeeds = 40;

const SessionId kSession{"s"};

std::string job_params(bool repeatable, const std::string& command = "ls") {
  std::string items;
  for (std::uint64_t i = 1; i <= kItems; ++i)
    items += fmt::format(R"({}{{"input":{}}})", i == 1 ? "" : ",", i);
  return fmt::format(
      R"({{"sessionId":"s","jobId":"j","runner":{{"kind":"command","command":"{}"}},)"
      R"("items":[{}],"concurrency":3,"repeatable":{},"options":{{"mode":"bypass"}}}})",
      command, items, repeatable);
}

// How often the command of each item was released, by line.
std::map<std::uint64_t, std::size_t> releases(Node& node) {
  std::map<std::uint64_t, std::size_t> out;
  for (const auto& [_, process] : node.machine().processes)
    if (process.stored_input)
      out[process.stored_input->offset / FakeJobInputs::kBytesPerLine + 1] += process.runs;
  return out;
}

struct ItemLife {
  std::size_t attempts = 0, ends = 0;
  bool completed = false;
};

std::map<std::uint64_t, ItemLife> lives(Node& node) {
  std::map<std::uint64_t, ItemLife> out;
  for (const StoredEvent& event : node.log(kSession)) {
    const auto fact = decode(event);
    REQUIRE(fact.has_value());
    if (fact->ids.job_item_id.empty()) continue;
    ItemLife& life = out[std::stoull(fact->ids.job_item_id.text())];
    if (std::holds_alternative<JobItemStarted>(fact->payload)) ++life.attempts;
    if (std::holds_alternative<JobItemFailed>(fact->payload)) ++life.ends;
    if (std::holds_alternative<JobItemCompleted>(fact->payload)) {
      ++life.ends;
      life.completed = true;
    }
  }
  return out;
}

void crash_somewhere(Node& node, Random& random) {
  for (std::uint64_t steps = random.below(120); steps > 0; --steps) node.step();
  node.crash();
  node.disk()->cut_power([] { return store::MemoryDisk::Fate::lost; });
  node.start();
}

// Runs a job with crashes at random places. Returns the first item that ran more often than it was
// attempted; 0: none did.
std::uint64_t item_run_twice(std::uint64_t seed, bool recalls_runs, bool repeatable) {
  Node::Options options;
  options.seed = seed;
  Node node{options};
  node.machine().recalls_runs = recalls_runs;
  Random random{seed};
  REQUIRE(node.ask("create_session", R"({"sessionId":"s"})").has_value());
  const ports::Reply made = node.ask("create_job", job_params(repeatable));
  REQUIRE_MESSAGE(made.has_value(), made.error().message);
  for (int crash = 0; crash < 4; ++crash) crash_somewhere(node, random);
  node.settle(100'000);

  const auto found = lives(node);
  CHECK(found.size() == kItems);
  const auto ran = releases(node);
  std::uint64_t twice = 0;
  for (const auto& [line, life] : found) {
    CHECK(life.ends == life.attempts);
    if (repeatable) CHECK(life.completed);
    const auto at = ran.find(line);
    const std::size_t runs = at == ran.end() ? 0 : at->second;
    if (life.completed) CHECK(runs >= 1);
    if (runs > life.attempts && twice == 0) twice = line;
  }
  const state::Session view = node.replayed(kSession);
  CHECK(view.jobs.empty());
  REQUIRE(view.ended_job.has_value());
  const JobCounts& counts = view.ended_job->record.counts;
  CHECK(counts.completed + counts.failed == kItems);
  CHECK(view.threads.empty());
  if (const auto broken = check_judged(node.log(kSession))) FAIL_CHECK(broken->what);
  if (const auto broken = check_index(node.store(), kSession)) FAIL_CHECK(broken->what);
  if (const auto broken = check_snapshot(node.store(), view)) FAIL_CHECK(broken->what);
  return twice;
}

TEST_CASE("jobs: whatever crashes, every item ends and none runs twice in an attempt") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    CHECK(item_run_twice(seed, true, seed % 2 == 0) == 0);
  }
}

TEST_CASE("jobs: the check finds a planted defect that runs an item twice") {
  bool found = false;
  for (std::uint64_t seed = 1; seed <= kSeeds && !found; ++seed)
    found = item_run_twice(seed, false, false) != 0;
  CHECK(found);
}

TEST_CASE("jobs: whatever crashes, a retry of the task retries each failed item once") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    Node::Options options;
    options.seed = seed;
    Node node{options};
    Random random{seed};
    REQUIRE(node.ask("create_session", R"({"sessionId":"s"})").has_value());
    REQUIRE(node.ask("create_task", R"({"sessionId":"s","taskId":"t","objective":"x"})"));
    std::string params = job_params(false, "exit 1");
    params.insert(1, R"("taskId":"t",)");
    const ports::Reply made = node.ask("create_job", params);
    REQUIRE_MESSAGE(made.has_value(), made.error().message);
    node.settle(100'000);
    for (const auto& [_, life] : lives(node)) CHECK(life.attempts == 1);
    const ports::Reply again = node.ask("retry_task", R"({"taskId":"t","reason":"again"})");
    REQUIRE_MESSAGE(again.has_value(), again.error().message);
    for (int crash = 0; crash < 4; ++crash) crash_somewhere(node, random);
    node.settle(100'000);
    const auto found = lives(node);
    CHECK(found.size() == kItems);
    for (const auto& [line, life] : found) {
      CAPTURE(line);
      CHECK(life.attempts == 2);
      CHECK(life.ends == 2);
    }
    const state::Session view = node.replayed(kSession);
    CHECK(view.jobs.empty());
    if (const auto broken = check_judged(node.log(kSession))) FAIL_CHECK(broken->what);
    if (const auto broken = check_index(node.store(), kSession)) FAIL_CHECK(broken->what);
  }
}

// What happens to the only item of a turn runner whose model answers with this text.
std::vector<std::string> life_of_answer(const std::string& answer) {
  Node::Options options;
  options.answers = {{.pieces = {answer}}};
  Node node{options};
  REQUIRE(node.ask("create_session", R"({"sessionId":"s"})").has_value());
  const ports::Reply made = node.ask(
      "create_job", R"({"sessionId":"s","jobId":"j","items":[{"input":1}],"runner":{"kind":"turn",)"
                    R"("instruction":"count","outputSchema":{"type":"object",)"
                    R"("properties":{"n":{"type":"integer"}},"required":["n"]}}})");
  REQUIRE_MESSAGE(made.has_value(), made.error().message);
  node.settle();
  std::vector<std::string> out;
  for (const StoredEvent& event : node.log(kSession)) {
    const auto fact = decode(event);
    if (std::holds_alternative<JobItemCompleted>(fact->payload)) out.emplace_back("completed");
    if (const auto* failed = std::get_if<JobItemFailed>(&fact->payload))
      out.push_back(failed->error->message);
    if (const auto* progress = std::get_if<JobProgress>(&fact->payload);
        progress && progress->item_status)
      out.emplace_back(name_of(*progress->item_status));
  }
  if (const auto broken = check_judged(node.log(kSession))) FAIL_CHECK(broken->what);
  return out;
}

TEST_CASE("jobs: the answer of a turn is stored first, and then judged by the schema") {
  using Life = std::vector<std::string>;
  CHECK(life_of_answer(R"({"n":1})") == Life{"reported", "completed"});
  CHECK(life_of_answer("```json\n{\"n\":1}\n```") == Life{"reported", "completed"});
  const Life wrong = life_of_answer(R"({"n":"two"})");
  REQUIRE(wrong.size() == 2);
  CHECK(wrong[1].starts_with("outputSchema: n"));
  const Life none = life_of_answer("one");
  REQUIRE(none.size() == 2);
  CHECK(none[1] == "outputSchema: the answer is not one JSON value");
}

}  // namespace
}  // namespace agentrt::sim
