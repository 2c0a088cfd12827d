#include "base/clock_steps.h"

#include <doctest/doctest.h>

namespace agentrt {
namespace {

constexpr std::int64_t kMinute = 60'000, kHour = 60 * kMinute, kDay = 24 * kHour,
                       kYear = 365 * kDay;
constexpr std::int64_t kStart = 1'790'000'000'000;

// A machine with both clocks.
struct Machine {
  std::int64_t wall = kStart, uptime = 5'000;
  std::string boot = "m1";
  ClockSteps clock{reading()};

  ClockReading reading() const { return {{wall}, uptime, boot}; }
  Timestamp stamp() const { return {wall}; }
  void pass(std::int64_t ms) {
    wall += ms;
    uptime += ms;
    clock.observe(reading());
  }
  bool set(std::int64_t by) {
    wall += by;
    return clock.observe(reading());
  }
  // Restarts the machine; its wall clock then shows `shows` milliseconds more.
  void restart(std::int64_t shows) {
    wall += shows;
    uptime = 100;
    boot += "x";
    clock.observe(reading());
  }
};

}  // namespace

TEST_CASE("an age is the time that passed while the clock is left alone") {
  Machine machine;
  const Timestamp stamp = machine.stamp();
  machine.pass(kDay);
  CHECK(machine.clock.age_ms(stamp) == kDay);
  CHECK(machine.clock.age_ms(stamp + kDay + kHour) == 0);
  CHECK(machine.clock.older_than(kHour) == machine.stamp() + -kHour);
  CHECK(machine.clock.state().past.empty());
}

TEST_CASE("a clock set forward or back does not make stamps older") {
  for (const std::int64_t step : {kYear, -kYear, kHour, -kHour, std::int64_t{2'000}}) {
    CAPTURE(step);
    Machine machine;
    const Timestamp before = machine.stamp();
    machine.pass(kHour);
    CHECK(machine.set(step));
    machine.pass(kHour);
    const Timestamp after = machine.stamp();
    machine.pass(kHour);
    CHECK(machine.clock.age_ms(before) <= 3 * kHour);
    // A step of -kHour makes stamps ambiguous.
    if (step != -kHour) CHECK(machine.clock.age_ms(before) == 3 * kHour);
    CHECK(machine.clock.age_ms(after) == kHour);
    CHECK(machine.clock.older_than(4 * kHour) <= before);
    machine.pass(30 * kDay);
    CHECK(machine.clock.age_ms(before) >= 30 * kDay);
    CHECK(machine.clock.age_ms(after) == 30 * kDay + kHour);
    CHECK(machine.clock.older_than(29 * kDay) > after);
  }
}

TEST_CASE("a clock that was wrong for a while does not age the stamps of that time") {
  for (const std::int64_t step : {kYear, -50 * kYear}) {
    CAPTURE(step);
    Machine machine;
    machine.pass(kHour);
    machine.set(step);
    const Timestamp wrong = machine.stamp();
    machine.pass(kMinute);
    machine.set(-step);
    machine.pass(kHour);
    CHECK(machine.clock.age_ms(wrong) <= kHour + kMinute);
    CHECK(machine.clock.older_than(7 * kDay) <= wrong);
  }
}

TEST_CASE("small differences between the clocks are no steps") {
  Machine machine;
  const Timestamp stamp = machine.stamp();
  for (int i = 0; i < 1'000; ++i) {
    CHECK_FALSE(machine.set(i % 2 == 0 ? 40 : -40));
    machine.pass(kMinute);
  }
  CHECK(machine.clock.age_ms(stamp) == 1'000 * kMinute);
  CHECK(machine.clock.state().past.empty());
}

TEST_CASE("after a restart of the machine a short gap counts and a long one does not") {
  Machine machine;
  const Timestamp stamp = machine.stamp();
  machine.restart(3 * kHour);
  CHECK(machine.clock.age_ms(stamp) == 3 * kHour);
  machine.restart(kYear);
  CHECK(machine.clock.age_ms(stamp) == 3 * kHour);
  machine.restart(-2 * kYear);
  CHECK(machine.clock.age_ms(stamp) == 3 * kHour);
  machine.pass(kDay);
  CHECK(machine.clock.age_ms(stamp) == 3 * kHour + kDay);
}

TEST_CASE("a later boot continues where the earlier one ended") {
  Machine machine;
  const Timestamp stamp = machine.stamp();
  machine.pass(kHour);
  const ClockSteps::State saved = machine.clock.state();
  machine.wall += kYear + kHour;  // the clock was set while no runtime ran, and an hour passed
  machine.uptime += kHour;
  machine.clock = ClockSteps{saved};
  CHECK(machine.clock.observe(machine.reading()));
  CHECK(machine.clock.age_ms(stamp) == 2 * kHour);
}

TEST_CASE("stamps of a step forward that no later boot knows of are not taken for old ones") {
  Machine machine;
  machine.pass(kHour);
  const ClockSteps::State saved = machine.clock.state();
  machine.set(kYear);
  machine.pass(kHour);
  const Timestamp stamp = machine.stamp();
  machine.wall += kYear;  // the boot that saw the first step dies before storing it
  machine.clock = ClockSteps{saved};
  machine.pass(kHour);
  CHECK(machine.clock.age_ms(stamp) <= kHour);
  machine.pass(kDay);
  CHECK(machine.clock.age_ms(stamp) >= kDay);
  CHECK(machine.clock.age_ms(stamp) <= kDay + kHour);
}

TEST_CASE("however often the clock is set, memory is bounded and no age is too large") {
  Machine machine;
  const Timestamp stamp = machine.stamp();
  std::int64_t passed = 0;
  for (int i = 0; i < 500; ++i) {
    machine.set(i % 3 == 0 ? -kDay : kDay + i);
    const Timestamp recent = machine.stamp();
    machine.pass(kMinute);
    passed += kMinute;
    CHECK(machine.clock.age_ms(stamp) <= passed);
    CHECK(machine.clock.age_ms(recent) <= kMinute);
    CHECK(machine.clock.older_than(kHour) <= recent);
  }
  CHECK(machine.clock.state().past.size() == kClockSegmentsMax);
}

}  // namespace agentrt
