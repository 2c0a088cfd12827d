#include "sim/virtual_time.h"

#include <algorithm>
#include <array>

namespace agentrt::sim {

std::uint64_t Random::next() {
  seed_ += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = seed_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

Timestamp VirtualLoop::now() const { return time_.now(); }
std::int64_t VirtualLoop::since(Timestamp stamp) const { return time_.clock().age_ms(stamp); }
Timestamp VirtualLoop::older_than(std::int64_t ms) const { return time_.clock().older_than(ms); }

ports::Loop::TimerId VirtualLoop::after(std::int64_t delay_ms, ports::Step step) {
  const TimerId id = ++last_;
  const std::int64_t due = time_.monotonic_ms() + std::max<std::int64_t>(delay_ms, 0);
  timers_[{due, id}] = std::move(step);
  due_[id] = due;
  return id;
}

void VirtualLoop::cancel(TimerId timer) {
  const auto found = due_.find(timer);
  if (found == due_.end()) return;
  timers_.erase({found->second, timer});
  due_.erase(found);
}

VirtualTime::Boot VirtualTime::begin() {
  return {std::make_unique<VirtualLoop>(*this), std::make_unique<VirtualWorker>(),
          std::make_unique<VirtualWorker>()};
}

bool VirtualTime::run_ready(Boot& boot) {
  std::array<std::deque<ports::Step>*, 3> queues{};
  std::size_t count = 0;
  if (!boot.loop->steps_.empty()) queues[count++] = &boot.loop->steps_;
  for (VirtualWorker* worker : {boot.readers.get(), boot.writer.get()})
    if (!worker->tasks_.empty() && worker->held_until_ms_ <= monotonic_ms_)
      queues[count++] = &worker->tasks_;
  if (count == 0) return false;
  std::deque<ports::Step>& chosen = *queues[random_.below(count)];
  ports::Step step = std::move(chosen.front());
  chosen.pop_front();
  step();
  return true;
}

std::optional<std::int64_t> VirtualTime::next_due(const Boot& boot) const {
  std::optional<std::int64_t> due;
  const auto consider = [&](std::int64_t at) { due = due ? std::min(*due, at) : at; };
  if (!boot.loop->timers_.empty()) consider(boot.loop->timers_.begin()->first.first);
  for (const VirtualWorker* worker : {boot.readers.get(), boot.writer.get()})
    if (!worker->tasks_.empty()) consider(worker->held_until_ms_);
  return due;
}

// Advances the clock and fires the timer that is due, if any.
void VirtualTime::reach(Boot& boot, std::int64_t at_ms) {
  monotonic_ms_ = std::max(monotonic_ms_, at_ms);
  VirtualLoop& loop = *boot.loop;
  if (loop.timers_.empty() || loop.timers_.begin()->first.first > monotonic_ms_) return;
  auto node = loop.timers_.extract(loop.timers_.begin());
  loop.due_.erase(node.key().second);
  node.mapped()();
}

bool VirtualTime::step(Boot& boot) {
  if (run_ready(boot)) return true;
  const auto due = next_due(boot);
  if (due) reach(boot, *due);
  return due.has_value();
}

bool VirtualTime::step_until(Boot& boot, std::int64_t until_ms) {
  if (run_ready(boot)) return true;
  const auto due = next_due(boot);
  if (due && *due <= until_ms) {
    reach(boot, *due);
    return true;
  }
  monotonic_ms_ = std::max(monotonic_ms_, until_ms);
  return false;
}

std::size_t VirtualTime::run(Boot& boot, std::size_t steps_max) {
  std::size_t ran = 0;
  while (ran < steps_max && step(boot)) ++ran;
  return ran;
}

}  // namespace agentrt::sim
