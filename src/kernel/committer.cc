#include "kernel/committer.h"

#include <chrono>

#include "base/check.h"

namespace agentrt::kernel {

void Committer::append(store::Append append, Done done, Complete complete) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty() || waiting_.back()->appends.size() >= limits_.appends_per_commit_max)
      waiting_.push_back(std::make_unique<Batch>());
    waiting_.back()->appends.push_back(std::move(append));
    waiting_.back()->done.push_back(std::move(done));
    waiting_.back()->complete.push_back(std::move(complete));
    if (draining_) return;
    draining_ = true;
  }
  check(writer_.run([this] { drain(); }), "the writer takes one drain at a time");
}

void Committer::drain() {
  while (const auto batch = take()) commit(*batch);
  store_.make_room();
}

std::unique_ptr<Committer::Batch> Committer::take() {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) {
    draining_ = false;
    return nullptr;
  }
  auto batch = std::move(waiting_.front());
  waiting_.pop_front();
  return batch;
}

void Committer::commit(Batch& batch) {
  for (std::size_t i = 0; i < batch.appends.size(); ++i)
    if (batch.complete[i]) batch.complete[i](batch.appends[i]);
  const auto before = std::chrono::steady_clock::now();
  auto results = store_.commit(batch.appends);
  const auto took = std::chrono::steady_clock::now() - before;
  check(results.size() == batch.appends.size(), "the store returns one result per append");
  metrics_.commit_us += static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(took).count());
  ++metrics_.commits;
  metrics_.commit_appends += batch.appends.size();
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i]) ++metrics_.commit_failures;
    loop_.post([done = std::move(batch.done[i]), result = std::move(results[i]),
                append = std::move(batch.appends[i])]() mutable {
      done(std::move(result), std::move(append));
    });
  }
}

}  // namespace agentrt::kernel
