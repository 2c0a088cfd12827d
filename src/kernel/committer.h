// kernel/committer.h: group commit: what waits while one commit runs shares the next.
//
// Appends of one session must be handed in one at a time (its lane sees to that); those of
// different sessions gather here. The writer takes whatever has gathered as soon as its commit is
// through, without asking the core, so that commits follow each other at the pace of the disk.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "kernel/limits.h"
#include "ports/loop.h"
#include "ports/metrics.h"
#include "store/store.h"

namespace agentrt::kernel {

class Committer {
 public:
  // On the core, in a step of its own, with the append handed back.
  using Done = std::move_only_function<void(Result<store::Position>, store::Append)>;

  Committer(store::Store& store, ports::Loop& loop, ports::Worker& writer, ports::Metrics& metrics,
            const Limits& limits)
      : store_(store), loop_(loop), writer_(writer), metrics_(metrics), limits_(limits) {}

  // Core only.
  void append(store::Append append, Done done);

 private:
  struct Batch {
    std::vector<store::Append> appends;
    std::vector<Done> done;
  };

  // On the writer: commits until nothing waits.
  void drain();
  std::unique_ptr<Batch> take();
  void commit(Batch& batch);

  store::Store& store_;
  ports::Loop& loop_;
  ports::Worker& writer_;
  ports::Metrics& metrics_;
  const Limits& limits_;
  std::mutex mutex_;
  std::deque<std::unique_ptr<Batch>> waiting_;  // under mutex_
  bool draining_ = false;                       // under mutex_
};

}  // namespace agentrt::kernel
