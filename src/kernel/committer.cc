#include "kernel/committer.h"

#include <chrono>

#include "base/check.h"

namespace agentrt::kernel {

void Committer::append(store::Append append, Done done) {
  if (waiting_.empty() || waiting_.back()->appends.size() >= limits_.appends_per_commit_max)
    waiting_.push_back(std::make_unique<Batch>());
  waiting_.back()->appends.push_back(std::move(append));
  waiting_.back()->done.push_back(std::move(done));
  flush();
}

void Committer::flush() {
  if (busy_ || waiting_.empty()) return;
  busy_ = true;
  auto batch = std::move(waiting_.front());
  waiting_.erase(waiting_.begin());
  const bool taken = writer_.run([this, batch = std::move(batch)]() mutable {
    const auto before = std::chrono::steady_clock::now();
    auto results = store_.commit(batch->appends);
    const auto took = std::chrono::steady_clock::now() - before;
    metrics_.commit_us += static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(took).count());
    loop_.post([this, batch = std::move(batch), results = std::move(results)]() mutable {
      finished(std::move(batch), std::move(results));
    });
  });
  check(taken, "the writer takes the one commit that is under way");
}

void Committer::finished(std::unique_ptr<Batch> batch,
                         std::vector<Result<store::Position>> results) {
  busy_ = false;
  ++metrics_.commits;
  metrics_.commit_appends += batch->appends.size();
  check(results.size() == batch->appends.size(), "the store says what became of every append");
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i]) ++metrics_.commit_failures;
    loop_.post([done = std::move(batch->done[i]), result = std::move(results[i]),
                append = std::move(batch->appends[i])]() mutable {
      done(std::move(result), std::move(append));
    });
  }
  flush();
}

}  // namespace agentrt::kernel
