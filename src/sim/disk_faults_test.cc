// sim/disk_faults_test.cc: tests power cuts on the simulated disk, and the kernel while the disk
// cannot be read.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include "sim/faulty_store.h"
#include "sim/node.h"

namespace agentrt::sim {
namespace {

using Fate = store::MemoryDisk::Fate;

const SessionId kSession{"s"};

std::size_t count(const std::vector<schema::StoredEvent>& log, std::string_view type) {
  return static_cast<std::size_t>(std::ranges::count(log, type, &schema::StoredEvent::type));
}

std::string title(int n) { return fmt::format(R"({{"sessionId":"s","title":"{}"}})", n); }

// Returns the fates in order, then `kept`.
std::function<Fate()> fates(std::vector<Fate> list) {
  return [list = std::move(list), at = std::size_t{0}]() mutable {
    return at < list.size() ? list[at++] : Fate::kept;
  };
}

// A session with one synced fact and three unsynced batches of one fact each.
struct Unsynced {
  Unsynced() : node({.seed = 1, .answers = {}, .settings = {}, .limits = {}}) {
    node.ask("create_session", R"({"sessionId":"s"})");
    node.disk()->withhold_sync();
    for (int i = 0; i < 3; ++i) node.ask("update_session", title(i));
    REQUIRE(node.log(kSession).size() == 4);
    node.crash();
  }
  std::size_t facts_left() {
    node.start();
    return node.log(kSession).size();
  }
  Node node;
};

struct Faulty {
  explicit Faulty(std::vector<FakeAnswer> answers)
      : node({.seed = 3,
              .answers = std::move(answers),
              .settings = {},
              .limits = {},
              .seams = {.store = [this](store::MemoryStore& memory) {
                return std::make_unique<FaultyStore>(memory, *memory.disk(), faults);
              }}}) {}
  DiskFaults faults;
  Node node;
};

std::size_t held(Node& node) {
  return static_cast<std::size_t>(
      std::ranges::count_if(node.machine().processes,
                            [](const auto& each) { return each.second.stage == FakeStage::held; }));
}

const char* const kSubmit =
    R"({"sessionId":"s","threadId":"t","input":[{"type":"text","text":"hi"}]})";

}  // namespace

TEST_CASE("what was synced outlives a power cut") {
  Unsynced run;
  run.node.disk()->sync();
  CHECK(run.node.disk()->cut_power(fates({Fate::lost})).written == 0);
  CHECK(run.facts_left() == 4);
}

TEST_CASE("batches that were not synced are there when all of them reached the medium") {
  Unsynced run;
  const auto outage = run.node.disk()->cut_power(fates({}));
  CHECK(outage.written == 3);
  CHECK(outage.kept == 3);
  CHECK(run.facts_left() == 4);
}

TEST_CASE("a torn batch is dropped as a whole, and what was written behind it too") {
  Unsynced run;
  // Each batch has two pieces: its append and its end. The second batch lacks its end.
  const auto outage =
      run.node.disk()->cut_power(fates({Fate::kept, Fate::kept, Fate::kept, Fate::torn}));
  CHECK(outage.kept == 1);
  CHECK(outage.torn_pieces == 1);
  CHECK(run.facts_left() == 2);
}

TEST_CASE("a batch that reached the medium before its predecessor is dropped") {
  Unsynced run;
  CHECK(run.node.disk()->cut_power(fates({Fate::lost, Fate::lost})).kept == 0);
  CHECK(run.facts_left() == 1);
}

TEST_CASE("a crash within a commit leaves all of it or nothing") {
  using Outage = DiskFaults::Outage;
  for (const auto& [place, fate, facts] : {std::tuple{Outage::before_write, Fate::kept, 1},
                                           std::tuple{Outage::before_sync, Fate::lost, 1},
                                           std::tuple{Outage::before_sync, Fate::kept, 2},
                                           std::tuple{Outage::after_sync, Fate::lost, 2}}) {
    Faulty run({});
    run.node.ask("create_session", R"({"sessionId":"s"})");
    run.faults.in_next_commit = place;
    const auto slot = run.node.send("update_session", title(1));
    while (!run.faults.stopped) run.node.step();
    CHECK_FALSE(slot->has_value());
    run.node.crash();
    run.node.disk()->cut_power(fates({fate}));
    run.faults = {};
    run.node.start();
    CHECK(run.node.log(kSession).size() == static_cast<std::size_t>(facts));
  }
}

TEST_CASE("open work is found when the disk can be read again after a start") {
  for (std::size_t steps = 0; steps < 5; ++steps) {
    CAPTURE(steps);
    Faulty run({{{"a"}, 600'000, {}}});
    run.node.ask("submit_turn", kSubmit);
    while (count(run.node.log(kSession), "model.requested") == 0) run.node.step();
    run.node.crash();
    run.node.start();
    for (std::size_t i = 0; i < steps; ++i) run.node.step();
    run.faults.failing_reads = 2;
    run.node.settle();
    CHECK(run.faults.failing_reads == 0);
    CHECK(count(run.node.log(kSession), "task.blocked") == 1);
  }
}

TEST_CASE("a command waits at its gate while its start is being stored, and goes when it is not") {
  Faulty run({{{"Looking."}, 5, {}, {"ls"}}, {{"Done."}, 5, {}, {}}});
  run.node.governance().policy.mode = schema::PermissionMode::bypass;
  run.node.send("submit_turn", kSubmit);
  run.node.machine().on_release = [&](const ProcessId&) {
    CHECK(count(run.node.log(kSession), "process.started") == 1);
  };
  while (run.node.machine().processes.empty()) run.node.step();
  CHECK(held(run.node) == 1);
  CHECK(count(run.node.log(kSession), "tool.started") == 0);
  run.faults.failing_commits = 1;
  while (run.faults.failing_commits > 0) run.node.step();
  while (held(run.node) > 0) REQUIRE(run.node.step());
  CHECK(count(run.node.log(kSession), "tool.started") == 0);
  CHECK(run.node.machine().runs() == 0);
  run.node.settle();
  CHECK(run.node.machine().runs() == 1);
  CHECK(count(run.node.log(kSession), "turn.completed") == 1);
}

TEST_CASE(
    "a command that was started speculatively is restarted after a failed commit, and runs once") {
  Faulty run({{{"Looking."}, 5, {}, {"ls", "pwd"}}, {{"Done."}, 5, {}, {}}});
  run.node.governance().policy.mode = schema::PermissionMode::bypass;
  run.node.send("submit_turn",
                R"({"sessionId":"s","threadId":"t","input":[{"type":"text","text":"hi"}]})");
  while (run.node.machine().processes.size() < 2) run.node.step();
  run.node.time().hold(*run.node.boot().writer, 50);  // long enough to become ready
  run.faults.failing_commits = 1;
  const std::int64_t until = run.node.time().monotonic_ms() + 60'000;
  while (run.node.step_until(until)) {
  }
  CHECK(count(run.node.log(kSession), "turn.completed") == 1);
  CHECK(count(run.node.log(kSession), "process.started") == 2);
  for (const auto& [_, process] : run.node.machine().processes) CHECK(process.runs <= 1);
}

TEST_CASE("what a model said waits until the log can be read again") {
  for (std::size_t failing = 1; failing < 8; ++failing) {
    CAPTURE(failing);
    Faulty run({{{"a", "b"}, 50, {}}});
    run.node.ask("submit_turn", kSubmit);
    while (run.node.model_requests() == 0) run.node.step();
    run.faults.failing_commits = 1;  // the lane reloads its session
    run.faults.failing_reads = failing;
    run.node.settle();
    CHECK(run.faults.failing_reads == 0);
    CHECK(count(run.node.log(kSession), "turn.completed") == 1);
  }
}

TEST_CASE("reads and commands are answered while reports wait for room on the disk") {
  Faulty run({{{"a", "b", "c"}, 50, {}}});
  run.node.ask("submit_turn", kSubmit);
  while (run.node.model_requests() == 0) run.node.step();
  run.faults.full_commits = 1'000'000;
  for (int i = 0; i < 2'000; ++i) run.node.step_until(run.node.time().monotonic_ms() + 1'000);
  const auto facts = run.node.log(kSession).size();
  for (int round = 0; round < 3; ++round) {
    const auto asked_ms = run.node.time().monotonic_ms();
    for (const auto& [read, params] :
         {std::pair{"get_session", R"({"sessionId":"s"})"},
          std::pair{"get_thread_read", R"({"sessionId":"s","threadId":"t"})"}}) {
      const auto reply = run.node.ask(read, params);
      REQUIRE(reply);
      CHECK(reply->contains(fmt::format(R"("asOfSequence":{})", facts)));
    }
    CHECK(run.node.ask("update_session", title(1)).error().code == Code::storage_full);
    CHECK(run.node.time().monotonic_ms() - asked_ms < 100);
  }
  run.faults.full_commits = 0;
  run.node.settle();
  CHECK(count(run.node.log(kSession), "turn.completed") == 1);
}

TEST_CASE("reports that cannot be stored are retried less and less often") {
  Faulty run({{{"a"}, 50, {}}});
  run.node.ask("submit_turn", kSubmit);
  while (run.node.model_requests() == 0) run.node.step();
  run.faults.full_commits = 1'000'000;
  const std::int64_t until = run.node.time().monotonic_ms() + 600'000;
  while (run.node.step_until(until)) {
  }
  const std::size_t tried = 1'000'000 - run.faults.full_commits;
  CHECK(tried > 100);
  CHECK(tried < 200);
}

TEST_CASE("damage in the store blocks its session once, and no other") {
  Faulty run({{{"a", "b"}, 50, {}}});
  run.node.ask("submit_turn", kSubmit);
  while (run.node.model_requests() == 0) run.node.step();
  run.faults.damaged = kSession;
  run.node.settle();
  CHECK(run.node.metrics().sessions_blocked == 1);
  CHECK(run.node.engine().running() == 0);
  const std::uint64_t tried = run.node.metrics().commit_failures;
  const auto refused = run.node.ask("update_session", title(1));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::internal);
  CHECK(refused.error().message.contains("session s is blocked"));
  CHECK(refused.error().details.contains(R"("reason":"the store file is damaged")"));
  CHECK(run.node.ask("get_session", R"({"sessionId":"s"})"));
  run.node.settle();
  CHECK(run.node.metrics().commit_failures == tried);
  CHECK(run.node.ask("create_session", R"({"sessionId":"other"})"));
  run.faults.damaged.reset();
  run.node.crash();
  run.node.start();
  run.node.settle();
  CHECK(run.node.ask("update_session", title(1)));
}

TEST_CASE("a command that meets damage is refused and leaves reports to be tried alone") {
  Faulty run({{{"a", "b"}, 5'000, {}}});
  run.node.ask("submit_turn", kSubmit);
  while (run.node.model_requests() == 0) run.node.step();
  run.faults.damaged = kSession;
  CHECK(run.node.ask("update_session", title(1)).error().code == Code::internal);
  CHECK(run.node.metrics().sessions_blocked == 0);
  run.faults.damaged.reset();
  run.node.settle();
  CHECK(count(run.node.log(kSession), "turn.completed") == 1);
}

TEST_CASE("a full disk at the start does not pile up reports of the restart") {
  Faulty run({{{"a"}, 600'000, {}}});
  run.node.ask("submit_turn", kSubmit);
  while (run.node.model_requests() == 0) run.node.step();
  run.node.crash();
  run.faults.full_commits = 40;
  run.node.start();
  run.node.settle();
  CHECK(run.faults.full_commits == 0);
  CHECK(count(run.node.log(kSession), "task.blocked") == 1);
  CHECK(run.node.metrics().reports < 60);
}

}  // namespace agentrt::sim
