// kernel/committer.h: group commit: appends that arrive during one commit share the next.
//
// A session must hand in one append at a time (its lane ensures that); appends of different
// sessions are batched here. When a commit is finished, the writer takes the next batch directly,
// without a round trip to the core, so commits follow each other at disk speed. One append may fail
// alone (conflict, damage), or all of a batch (full disk). Nothing is retried here.
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
  // Called on the core, in its own step, with the position of the first event or the error. Returns
  // the append to the caller.
  using Done = std::move_only_function<void(Result<store::Position>, store::Append)>;
  // Completes an append on the writer, so that costly encoding does not delay the core.
  using Complete = std::move_only_function<void(store::Append&)>;

  Committer(store::Store& store, ports::Loop& loop, ports::Worker& writer, ports::Metrics& metrics,
            const Limits& limits)
      : store_(store), loop_(loop), writer_(writer), metrics_(metrics), limits_(limits) {}

  // `complete` may be empty. Core only.
  void append(store::Append append, Done done, Complete complete = {});

 private:
  struct Batch {
    std::vector<store::Append> appends;
    std::vector<Done> done;
    std::vector<Complete> complete;
  };

  // On the writer: commits until no batch is waiting, then lets the store extend its log file for
  // later commits (Store::make_room).
  void drain();
  std::unique_ptr<Batch> take();
  void commit(Batch& batch);

  store::Store& store_;
  ports::Loop& loop_;
  ports::Worker& writer_;
  ports::Metrics& metrics_;
  const Limits& limits_;
  std::mutex mutex_;
  std::deque<std::unique_ptr<Batch>> waiting_;  // guarded by mutex_
  bool draining_ = false;                       // guarded by mutex_
};

}  // namespace agentrt::kernel
