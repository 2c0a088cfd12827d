#include "runtime/system_clock.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

#include "base/descriptor.h"
#include "schema/codec.h"

namespace agentrt::runtime {

// The content of clock.json.
struct SegmentOnDisk {
  std::int64_t ahead_ms = 0;
  std::int64_t ended_ms = 0;
  std::int64_t from_ms = 0;
  std::int64_t until_ms = 0;
};
BOOST_DESCRIBE_STRUCT(SegmentOnDisk, (), (ahead_ms, ended_ms, from_ms, until_ms))
struct ClockOnDisk {
  Timestamp wall;
  std::int64_t uptime_ms = 0;
  std::string machine_boot;
  std::int64_t ahead_ms = 0;
  std::int64_t from_ms = 0;
  std::vector<SegmentOnDisk> past;
};
BOOST_DESCRIBE_STRUCT(ClockOnDisk, (), (wall, uptime_ms, machine_boot, ahead_ms, from_ms, past))

namespace {

constexpr std::int64_t kTogetherMs = 20;  // maximum delay between the reads of both clocks
constexpr int kReadsMax = 5;

std::int64_t boottime_ms() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000 + time.tv_nsec / 1'000'000;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string line_of(const std::string& path) {
  std::string text = text_of(path);
  text.resize(std::min(text.find('\n'), text.size()));
  return text;
}

// /proc/uptime minus CLOCK_BOOTTIME. They differ in a time namespace, possibly by another offset
// per process.
std::int64_t uptime_ahead_ms() {
  const double seconds = std::atof(text_of("/proc/uptime").c_str());
  return seconds > 0 ? static_cast<std::int64_t>(seconds * 1'000) - boottime_ms() : 0;
}

std::optional<ClockSteps::State> read_state(const std::string& path) {
  ClockOnDisk read;
  const std::string text = text_of(path);
  if (!schema::check_json(text) || !schema::from_json(text, read, schema::Unknown::ignore))
    return std::nullopt;
  ClockSteps::State state{
      {read.wall, read.uptime_ms, std::move(read.machine_boot)}, read.ahead_ms, {read.from_ms}, {}};
  for (const SegmentOnDisk& each : read.past)
    state.past.push_back({each.ahead_ms, each.ended_ms, {each.from_ms}, {each.until_ms}});
  if (state.past.size() > kClockSegmentsMax) return std::nullopt;
  return state;
}

}  // namespace

Timestamp SystemClock::now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since).count()};
}

SystemClock::SystemClock(std::string path)
    : path_(std::move(path)),
      machine_boot_(line_of("/proc/sys/kernel/random/boot_id")),
      uptime_ahead_ms_(uptime_ahead_ms()),
      steps_(read()) {
  if (auto state = read_state(path_)) {
    steps_ = ClockSteps{*std::move(state)};
    steps_.observe(read());
  }
}

// The thread may be preempted between the two reads, which must not look like a step; then read
// again.
ClockReading SystemClock::read() const {
  ClockReading reading;
  reading.machine_boot = machine_boot_;
  for (int i = 0; i < kReadsMax; ++i) {
    const std::int64_t before = boottime_ms();
    reading.wall = now();
    const std::int64_t after = boottime_ms();
    reading.uptime_ms = after + uptime_ahead_ms_;
    if (after - before <= kTogetherMs) break;
  }
  return reading;
}

void SystemClock::observe() const { set_ = steps_.observe(read()) || set_; }

bool SystemClock::look() const {
  const std::scoped_lock lock(mutex_);
  observe();
  return set_ || steps_.state().last.uptime_ms - saved_ms_ >= kClockSaveEveryMs;
}

std::int64_t SystemClock::since(Timestamp stamp) const {
  const std::scoped_lock lock(mutex_);
  observe();
  return steps_.age_ms(stamp);
}

Timestamp SystemClock::older_than(std::int64_t ms) const {
  const std::scoped_lock lock(mutex_);
  observe();
  return steps_.older_than(ms);
}

void SystemClock::save() const {
  ClockOnDisk out;
  {
    const std::scoped_lock lock(mutex_);
    observe();
    set_ = false;
    const ClockSteps::State& state = steps_.state();
    saved_ms_ = state.last.uptime_ms;
    out = {state.last.wall, state.last.uptime_ms, state.last.machine_boot,
           state.ahead_ms,  state.from.ms,        {}};
    for (const ClockSteps::Segment& each : state.past)
      out.past.push_back({each.ahead_ms, each.ended_ms, each.from.ms, each.until.ms});
  }
  const std::string text = schema::to_json(out) + '\n', fresh = path_ + ".new";
  {
    const Descriptor file(
        ::open(fresh.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file ||
        ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
        ::fdatasync(file.get()) != 0)
      return;
  }
  (void)std::rename(fresh.c_str(), path_.c_str());
}

}  // namespace agentrt::runtime
