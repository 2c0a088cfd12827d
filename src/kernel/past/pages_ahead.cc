#include "kernel/past/pages_ahead.h"

#include <algorithm>

namespace agentrt::kernel {
namespace {

constexpr std::size_t kPageEvents = 1'024;
constexpr std::size_t kPageBytes = 2 << 20;
constexpr std::size_t kPagesAhead = 4;

}  // namespace

PagesAhead::PagesAhead(store::Store& store, SessionId session, Sequence up_to)
    : store_(store), session_(std::move(session)), up_to_(up_to) {
  if (up_to_ > kPageEvents) thread_ = std::thread([this] { run(); });
}

PagesAhead::~PagesAhead() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

PagesAhead::Page PagesAhead::read(Sequence after) {
  if (after >= up_to_) return std::vector<store::Event>{};
  return store_.events(session_, after, std::min<std::size_t>(kPageEvents, up_to_ - after),
                       kPageBytes);
}

void PagesAhead::run() {
  for (bool last = false; !last;) {
    Page page = read(read_through_);
    last = !page || page->empty();
    if (!last) read_through_ = page->back().event.sequence;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopped_ || pages_.size() < kPagesAhead; });
    if (stopped_) return;
    pages_.push_back(std::move(page));
    ended_ = last;
    changed_.notify_all();
  }
}

PagesAhead::Page PagesAhead::next() {
  if (!thread_.joinable()) {
    Page page = read(read_through_);
    if (page && !page->empty()) read_through_ = page->back().event.sequence;
    return page;
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ended_ || !pages_.empty(); });
  if (pages_.empty()) return std::vector<store::Event>{};
  Page page = std::move(pages_.front());
  pages_.pop_front();
  changed_.notify_all();
  return page;
}

}  // namespace agentrt::kernel
