// runtime/core_loop_test.cc: the core thread and its workers.
#include "runtime/core_loop.h"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <set>
#include <thread>

namespace agentrt::runtime {
namespace {

// Waits until all earlier tasks have run.
void finish(CoreLoop& loop) {
  std::promise<void> done;
  loop.post([&] { done.set_value(); });
  done.get_future().wait();
}

void spin_us(std::int64_t us) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(us);
  while (std::chrono::steady_clock::now() < end) continue;
}

}  // namespace

TEST_CASE("a step that takes longer than the limit is counted, with how long it took") {
  ports::Metrics metrics;
  CoreLoop loop(metrics);
  loop.start();
  loop.post([] { spin_us(2 * static_cast<std::int64_t>(ports::kCoreStepLimitUs)); });
  finish(loop);
  CHECK(metrics.core_steps >= 1);
  CHECK(metrics.core_steps_over_limit >= 1);
  CHECK(metrics.core_step_us_max >= ports::kCoreStepLimitUs);
  CHECK(metrics.core_step_cpu_us_max > 0);
  const std::uint64_t worked = metrics.core_step_cpu_us_max;
  loop.post([] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
  finish(loop);
  CHECK(metrics.core_step_us_max >= 20'000);
  CHECK(metrics.core_step_cpu_us_max < std::max<std::uint64_t>(worked + 1, 20'000));
}

TEST_CASE("steps run in the order they were posted, timers in the order they are due") {
  ports::Metrics metrics;
  CoreLoop loop(metrics);
  loop.start();
  std::vector<int> order;
  std::promise<void> done;
  loop.post([&] {
    loop.after(20, [&] {
      order.push_back(4);
      done.set_value();
    });
    loop.after(1, [&] { order.push_back(3); });
    const auto cancelled = loop.after(1, [&] { order.push_back(99); });
    loop.cancel(cancelled);
    order.push_back(1);
  });
  loop.post([&] { order.push_back(2); });
  done.get_future().wait();
  finish(loop);
  CHECK(order == std::vector<int>{1, 2, 3, 4});
}

TEST_CASE("a stopped loop runs nothing more") {
  ports::Metrics metrics;
  CoreLoop loop(metrics);
  loop.start();
  loop.stop();
  bool ran = false;
  loop.post([&] { ran = true; });
  CHECK_FALSE(ran);
}

TEST_CASE("a worker takes no more than its queue holds") {
  std::promise<void> release;
  auto released = release.get_future().share();
  std::promise<void> busy;
  ThreadWorker worker("worker", 1, 2);
  REQUIRE(worker.run([&] {
    busy.set_value();
    released.wait();
  }));
  busy.get_future().wait();
  std::atomic<int> ran = 0;
  CHECK(worker.run([&] { ++ran; }));
  CHECK(worker.run([&] { ++ran; }));
  CHECK_FALSE(worker.run([&] { ++ran; }));
  release.set_value();
  std::promise<void> last;
  while (!worker.run([&] { last.set_value(); })) continue;
  last.get_future().wait();
  CHECK(ran == 2);
}

TEST_CASE("the system's entropy does not repeat itself") {
  SystemEntropy entropy;
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1'000; ++i) CHECK(seen.insert(entropy.draw()).second);
}

}  // namespace agentrt::runtime
