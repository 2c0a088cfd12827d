#include "kernel/lanes.h"

#include <deque>

#include <doctest/doctest.h>

#include "store/memory/memory_store.h"

namespace agentrt::kernel {
namespace {

// A loop whose wall clock advances by one second with every read.
class TickingLoop final : public ports::Loop {
 public:
  void post(ports::Step step) override { steps_.push_back(std::move(step)); }
  Timestamp now() const override { return now_ = now_ + 1'000; }
  std::int64_t since(Timestamp) const override { return 0; }
  TimerId after(std::int64_t, ports::Step) override { return 1; }
  void cancel(TimerId) override {}
  void run() {
    while (!steps_.empty()) {
      ports::Step step = std::move(steps_.front());
      steps_.pop_front();
      step();
    }
  }

 private:
  mutable Timestamp now_{1'800'000'000'000};
  std::deque<ports::Step> steps_;
};

class LoopWorker final : public ports::Worker {
 public:
  explicit LoopWorker(TickingLoop& loop) : loop_(loop) {}
  bool run(ports::Step task) override {
    loop_.post(std::move(task));
    return true;
  }

 private:
  TickingLoop& loop_;
};

class CountingEntropy final : public ports::Entropy {
 public:
  std::uint64_t draw() override { return ++count_; }

 private:
  std::uint64_t count_ = 0;
};

// The lanes over a store in memory.
struct World {
  TickingLoop loop;
  LoopWorker worker{loop};
  CountingEntropy entropy;
  ports::Metrics metrics;
  Limits limits;
  control::Settings settings;
  Observers observers;
  store::MemoryStore store;
  conversation::KeptConversations conversations{limits.history.kept_bytes};
  Committer committer{store, loop, worker, metrics, limits};
  TaskClock clock{
      {.store = store, .loop = loop, .readers = worker, .retry_ms = 1'000, .report = {}}};
  Lanes lanes{{.store = store,
               .loop = loop,
               .readers = worker,
               .entropy = entropy,
               .metrics = metrics,
               .committer = committer,
               .settings = settings,
               .limits = limits,
               .redactor = nullptr,
               .boot = BootId{"boot_1"},
               .conversations = conversations,
               .observers = observers,
               .clock = clock,
               .publish = [](const ports::FeedBatch&) {}}};

  ports::Reply give(schema::Command command) {
    std::optional<ports::Reply> reply;
    CommandWork work;
    work.command = std::move(command);
    work.reply_to = [&reply](ports::Reply given) { reply = std::move(given); };
    lanes.put(SessionId{"s"}, std::move(work));
    loop.run();
    REQUIRE(reply.has_value());
    return *std::move(reply);
  }
};

// A fresh id begins with the time at which it was made.
std::string time_part(const std::string& id) {
  constexpr std::size_t kTimeDigits = 10;
  return id.substr(id.find('_') + 1, kTimeDigits);
}

}  // namespace

TEST_CASE("facts carry the time that decided them") {
  World world;
  schema::SubmitTurn submit;
  submit.input.push_back({.type = schema::InputKind::text, .text = "hello", .path = {}});
  REQUIRE(world.give(submit).has_value());
  const auto events = world.store.events(SessionId{"s"}, 0, 100, 1 << 20);
  REQUIRE(events.has_value());
  std::size_t compared = 0;
  for (const store::Event& stored : *events) {
    CAPTURE(stored.event.type);
    const auto fact = schema::decode(stored.event);
    REQUIRE(fact.has_value());
    if (!fact->ids.turn_id) continue;
    const std::string same = FreshIds{fact->at, 1}.next<TurnId>().text();
    CHECK(time_part(fact->ids.turn_id.text()) == time_part(same));
    ++compared;
  }
  CHECK(compared > 0);
}

}  // namespace agentrt::kernel
