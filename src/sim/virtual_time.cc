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

ports::Loop::TimerId VirtualLoop::after(std::int64_t delay_ms, ports::Step step) {
  const TimerId id = ++last_;
  const std::int64_t due = now().ms + std::max<std::int64_t>(delay_ms, 0);
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

bool VirtualTime::fire_next_timer(VirtualLoop& loop) {
  if (loop.timers_.empty()) return false;
  auto node = loop.timers_.extract(loop.timers_.begin());
  loop.due_.erase(node.key().second);
  now_ms_ = std::max(now_ms_, node.key().first);
  node.mapped()();
  return true;
}

bool VirtualTime::step(Boot& boot) {
  std::array<std::deque<ports::Step>*, 3> queues = {&boot.loop->steps_, &boot.readers->tasks_,
                                                    &boot.writer->tasks_};
  const auto ready = std::ranges::partition(queues, [](auto* queue) { return !queue->empty(); });
  const auto count = static_cast<std::uint64_t>(ready.begin() - queues.begin());
  if (count == 0) return fire_next_timer(*boot.loop);
  std::deque<ports::Step>& chosen = *queues[random_.below(count)];
  ports::Step step = std::move(chosen.front());
  chosen.pop_front();
  step();
  return true;
}

std::size_t VirtualTime::run(Boot& boot, std::size_t steps_max) {
  std::size_t ran = 0;
  while (ran < steps_max && step(boot)) ++ran;
  return ran;
}

}  // namespace agentrt::sim
