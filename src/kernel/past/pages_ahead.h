// kernel/past/pages_ahead.h: the facts of a session from its first one, in pages. A long session is
// read on a thread of its own while the caller folds the page before, because reading, which
// verifies every hash, takes as long as folding.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "store/store.h"

namespace agentrt::kernel {

class PagesAhead {
 public:
  // The facts up to and with `up_to`. `store` must outlive this object.
  PagesAhead(store::Store& store, SessionId session, Sequence up_to);
  ~PagesAhead();
  PagesAhead(const PagesAhead&) = delete;
  PagesAhead& operator=(const PagesAhead&) = delete;

  // The next page; empty after the last one. Errors: those of the store; do not call it again.
  Result<std::vector<store::Event>> next();

 private:
  using Page = Result<std::vector<store::Event>>;

  Page read(Sequence after);
  void run();

  store::Store& store_;
  const SessionId session_;
  const Sequence up_to_;
  Sequence read_through_ = 0;  // of the caller, or of the thread if there is one
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Page> pages_;  // under mutex_; at most kPagesAhead
  bool ended_ = false;      // under mutex_: the last page is in pages_
  bool stopped_ = false;    // under mutex_: the caller needs no more
  std::thread thread_;
};

}  // namespace agentrt::kernel
