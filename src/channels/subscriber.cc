#include "channels/subscriber.h"

#include <algorithm>
#include <limits>

namespace agentrt::channels {
namespace {

bool is_load(Code code) { return code == Code::overloaded || code == Code::timeout; }

}  // namespace

Subscriber::Subscriber(StreamStart start, StreamKind kind, SubscriberHost& host,
                       const StreamLimits& limits, ports::Metrics& metrics, StreamFormPtr form)
    : start_(std::move(start)),
      kind_(std::move(kind)),
      host_(host),
      limits_(limits),
      metrics_(metrics),
      form_(form ? std::move(form) : sse_form(kind_)),
      sent_(start_.after),
      head_(start_.after),
      through_(start_.through.value_or(std::numeric_limits<std::uint64_t>::max())),
      reading_(true) {}

void Subscriber::attach(StreamPipe& pipe, std::string head) {
  pipe_ = &pipe;
  // A client that starts at the end must know where that was, even if no event follows.
  if (start_.from_end) head += form_->progress(place());
  if (!head.empty()) {
    queued_bytes_ += head.size();
    queue_.push_front(piece_of(std::move(head)));
  }
  flush();
}

Pieces Subscriber::take_rest() {
  Pieces rest;
  while (mid_message()) {
    rest.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return rest;
}

void Subscriber::detach() {
  pipe_ = nullptr;
  state_ = State::closed;
  queue_.clear();
  held_.clear();
}

bool Subscriber::has_room(const Frames& frames) const {
  return queue_.empty() || (queued_bytes_ + frames.text.size() <= limits_.queue_bytes_max &&
                            queued_frames_ + frames.count() <= limits_.queue_frames_max);
}

void Subscriber::queue_text(std::string text) {
  queued_bytes_ += text.size();
  queue_.push_back(piece_of(std::move(text)));
}

bool Subscriber::selects(const Frames& frames, std::size_t index) const {
  return start_.types.empty() ||
         std::ranges::find(start_.types, frames.type_of(index)) != start_.types.end();
}

// REQUIRES: frames->first <= sent_ + 1 && frames->last > sent_, or frames read from disk after
// sent_.
void Subscriber::queue_frames(const FramesPtr& frames) {
  std::size_t from =
      frames->first <= sent_ ? static_cast<std::size_t>(sent_ + 1 - frames->first) : 0;
  const std::size_t before = queue_.size();
  // Without a filter, the keys of a run are consecutive.
  std::size_t end = frames->count();
  if (frames->last > through_)
    end = through_ < frames->first ? 0 : static_cast<std::size_t>(through_ + 1 - frames->first);
  while (from < end) {
    if (!selects(*frames, from)) {
      ++from;
      continue;
    }
    std::size_t to = start_.types.empty() ? end : from + 1;
    while (to < end && selects(*frames, to)) ++to;
    form_->add(queue_, frames, from, to);
    from = to;
  }
  for (std::size_t i = before; i < queue_.size(); ++i) {
    queued_bytes_ += queue_[i].size();
    queued_frames_ += queue_[i].frames;
  }
  sent_ = std::max(sent_, std::min(frames->last, through_));
}

void Subscriber::hold(const FramesPtr& frames) {
  if (held_bytes_ + frames->text.size() > limits_.queue_bytes_max ||
      held_frames_ + frames->count() > limits_.queue_frames_max) {
    held_.clear();  // they can be read from disk
    held_bytes_ = held_frames_ = 0;
  }
  held_.push_back(frames);
  held_bytes_ += frames->text.size();
  held_frames_ += frames->count();
}

void Subscriber::offer(const FramesPtr& frames) {
  if (state_ == State::ending || state_ == State::closed) return;
  head_ = std::max(head_, frames->last);
  if (frames->last <= sent_) return;
  if (state_ == State::live) {
    if (!waits() && frames->first <= sent_ + 1 && has_room(*frames)) {
      queue_frames(frames);
      if (sent_ < frames->last) state_ = State::behind;
      return;
    }
    state_ = State::behind;
  }
  if (waits()) return;  // it is read from disk when it may be sent
  hold(frames);
  if (was_live_ && !start_.through && head_ - sent_ > limits_.behind_events_max) overflow();
}

void Subscriber::missed() {
  if (state_ == State::ending || state_ == State::closed) return;
  must_read_ = true;
  if (state_ == State::live) state_ = State::behind;
}

void Subscriber::finish_with(std::string frame) {
  queue_text(std::move(frame));
  state_ = State::ending;
  held_.clear();
}

void Subscriber::overflow() {
  metrics_.subscribers_overflowed.fetch_add(1, std::memory_order_relaxed);
  overflowed_ = true;
  finish_with(form_->overflow(place()));
}

void Subscriber::page_arrived(Result<FramesPage> page) {
  reading_ = false;
  if (state_ == State::ending || state_ == State::closed) return;
  if (!page) {
    if (!is_load(page.error().code) || ++retries_ > limits_.page_retries_max) {
      finish_with(form_->error(page.error()));
    } else {
      paused_ = true;
      must_read_ = true;
    }
    return flush();
  }
  retries_ = 0;
  if (state_ == State::opening && start_.from_end) sent_ = page->reached;
  state_ = State::behind;
  if (page->more) must_read_ = true;
  if (page->frames->last > sent_) queue_frames(page->frames);
  head_ = std::max({head_, sent_, page->reached, page->frames->last});
  sent_ = std::max(sent_, std::min(page->reached, through_));
  flush();
}

// Returns whether the queue is empty.
bool Subscriber::write_queued() {
  const auto taken = [this](std::size_t bytes) {
    if (bytes > 0) progress_ = Clock::now();
    queued_bytes_ -= bytes;
  };
  const auto done = [this](const Piece& piece) {
    queued_frames_ -= piece.frames;
    metrics_.events_delivered.fetch_add(piece.frames, std::memory_order_relaxed);
  };
  const Written written = write_pieces(*pipe_, queue_, taken, done);
  if (written == Written::broken) pipe_->close_stream();
  return written == Written::all;
}

// Catches up a subscriber that is behind: first with held frames, then with pages from disk.
void Subscriber::advance() {
  if (state_ != State::behind || reading_ || paused_ || waits()) return;
  while (!held_.empty() && !waits() && held_.front()->first <= sent_ + 1) {
    const FramesPtr& next = held_.front();
    if (next->last > sent_) {
      if (!has_room(*next)) return;
      queue_frames(next);
    }
    held_bytes_ -= next->text.size();
    held_frames_ -= next->count();
    held_.pop_front();
  }
  if (waits() && sent_ < head_) return;
  if (held_.empty() && sent_ >= head_ && !must_read_) {
    state_ = State::live;
    was_live_ = true;
    return;
  }
  if (queued_bytes_ > limits_.queue_bytes_max / 2) return;
  reading_ = true;
  must_read_ = false;
  host_.want_page(shared_from_this());
}

void Subscriber::flush() {
  marked_ = false;
  while (pipe_ && !blocked_) {
    if (!queue_.empty()) {
      progress_ = Clock::now();
      if (!write_queued()) {
        if (!pipe_) return;
        blocked_ = true;
        pipe_->wait_writable();
      }
    }
    if (queue_.empty() && state_ == State::ending) return pipe_->close_stream();
    advance();
    if (queue_.empty()) return;
  }
}

void Subscriber::allow(std::uint64_t through) {
  if (!start_.through || through <= through_) return;
  through_ = through;
  if (state_ != State::opening) flush();
}

void Subscriber::send_text(std::string text) {
  if (state_ == State::ending || state_ == State::closed) return;
  queue_text(std::move(text));
  flush();
}

void Subscriber::hang_up() {
  if (pipe_) pipe_->close_stream();
}

void Subscriber::on_writable() {
  blocked_ = false;
  flush();
}

void Subscriber::tick(Instant now) {
  if (!pipe_) return;
  paused_ = false;
  if (!queue_.empty()) {
    if (now - progress_ > limits_.stall) return pipe_->close_stream();
  } else if (now - progress_ >= limits_.keepalive) {
    progress_ = now;
    std::string text =
        form_->keep_alive(start_.types.empty() ? std::nullopt : std::optional(place()));
    if (!text.empty()) queue_text(std::move(text));
  }
  flush();
}

void Subscriber::end() {
  if (pipe_ && !blocked_ && !queue_.empty()) (void)write_queued();
}

}  // namespace agentrt::channels
