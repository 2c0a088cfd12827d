// sim/virtual_time_test.cc: two clocks, and workers that are slow or overloaded.
#include "sim/virtual_time.h"

#include <doctest/doctest.h>

namespace agentrt::sim {

TEST_CASE("a timer runs on the clock that never goes back") {
  VirtualTime time{1};
  auto boot = time.begin();
  bool fired = false;
  boot.loop->after(100, [&] { fired = true; });
  const Timestamp before = time.now();
  time.jump(-5'000);
  CHECK(time.now() == before + -5'000);
  const std::int64_t began = time.monotonic_ms();
  CHECK(time.step(boot));
  CHECK(fired);
  CHECK(time.monotonic_ms() == began + 100);
}

TEST_CASE("a worker that is held runs nothing until its time has come") {
  VirtualTime time{1};
  auto boot = time.begin();
  int ran = 0;
  time.hold(*boot.writer, 1'000);
  REQUIRE(boot.writer->run([&] { ++ran; }));
  const std::int64_t began = time.monotonic_ms();
  CHECK_FALSE(time.step_until(boot, began + 999));
  CHECK(ran == 0);
  while (time.step_until(boot, began + 1'000)) {
  }
  CHECK(ran == 1);
}

TEST_CASE("a full worker takes nothing") {
  VirtualTime time{1};
  auto boot = time.begin();
  boot.readers->refuse(1);
  CHECK_FALSE(boot.readers->run([] {}));
  CHECK(boot.readers->run([] {}));
}

}  // namespace agentrt::sim
