#include "adapters/hooks/hooks.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "adapters/hooks/run_hook.h"

namespace agentrt::adapters {
namespace {

using schema::Category;
using schema::HookOutcome;

HookOutcome failed(Category category, std::string why) {
  HookOutcome outcome;
  outcome.failure = schema::Failure{category, std::move(why), false};
  return outcome;
}

void tell_gone(const Descriptor& gone) {
  const std::uint64_t one = 1;
  (void)!::write(gone.get(), &one, sizeof(one));
}

}  // namespace

void LauncherHooks::start(ports::HookRequest request,
                          std::shared_ptr<ports::HookListener> listener) {
  if (stopped_) return;
  if (waiting_.size() >= parts_.waiting_max) {
    parts_.loop.post([listener = std::move(listener), most = parts_.waiting_max] {
      listener->on_ended(
          failed(Category::unavailable,
                 fmt::format("{} hooks are already waiting; try again later", most)));
    });
    return;
  }
  waiting_.push_back({std::move(request), std::move(listener)});
  begin_waiting();
}

void LauncherHooks::begin_waiting() {
  while (!stopped_ && !waiting_.empty() && running_.size() < parts_.hooks_max) {
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    begin(std::move(next));
  }
}

void LauncherHooks::begin(Waiting next) {
  const std::uint64_t number = ++begun_;
  Running& running = running_[number];
  running.id = next.request.id;
  running.listener = std::move(next.listener);
  running.gone = Descriptor(::eventfd(0, EFD_CLOEXEC));
  const auto work = [this, number, request = std::move(next.request), gone = running.gone.get()] {
    ::pthread_setname_np(::pthread_self(), "agentrt-hook");
    const auto profile = parts_.profile(request);
    auto outcome = profile ? run_hook(request, *profile, gone)
                           : failed(Category::sandbox, profile.error().message);
    parts_.loop.post([this, number, outcome = std::move(outcome)]() mutable {
      ended(number, std::move(outcome));
    });
  };
  try {
    running.thread = std::thread(work);
  } catch (const std::system_error& error) {
    parts_.loop.post([this, number, why = std::string(error.what())] {
      ended(number, failed(Category::unavailable, "a thread cannot be started: " + why));
    });
  }
}

void LauncherHooks::ended(std::uint64_t number, std::optional<HookOutcome> outcome) {
  auto found = running_.extract(number);
  if (!found) return;
  if (found.mapped().thread.joinable()) found.mapped().thread.join();
  const auto listener = std::move(found.mapped().listener);
  begin_waiting();
  if (listener && outcome) listener->on_ended(*std::move(outcome));
}

void LauncherHooks::cancel(const std::string& id) {
  std::erase_if(waiting_, [&](const Waiting& each) { return each.request.id == id; });
  for (auto& [number, running] : running_) {
    if (running.id != id) continue;
    running.listener.reset();
    tell_gone(running.gone);
  }
}

void LauncherHooks::stop() {
  stopped_ = true;
  waiting_.clear();
  for (auto& [number, running] : running_) tell_gone(running.gone);
  for (auto& [number, running] : running_)
    if (running.thread.joinable()) running.thread.join();
  running_.clear();
}

}  // namespace agentrt::adapters
