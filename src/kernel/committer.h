// kernel/committer.h: group commit: what waits while one commit runs shares the next.
//
// Core only. Appends of one session must be handed in one at a time (its lane sees to that); those
// of different sessions gather here. The store's commit runs on the writer, one at a time.
#pragma once

#include <functional>
#include <memory>
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

  void append(store::Append append, Done done);

 private:
  struct Batch {
    std::vector<store::Append> appends;
    std::vector<Done> done;
  };

  void flush();
  void finished(std::unique_ptr<Batch> batch, std::vector<Result<store::Position>> results);

  store::Store& store_;
  ports::Loop& loop_;
  ports::Worker& writer_;
  ports::Metrics& metrics_;
  const Limits& limits_;
  std::vector<std::unique_ptr<Batch>> waiting_;
  bool busy_ = false;
};

}  // namespace agentrt::kernel
