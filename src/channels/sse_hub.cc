#include "channels/sse_hub.h"

#include <algorithm>

namespace agentrt::channels {

SseHub::SseHub(ports::FactFeed& feed, ports::Metrics& metrics, std::shared_ptr<Inbox> inbox,
               const StreamLimits& limits, Later later)
    : feed_(feed),
      metrics_(metrics),
      inbox_(std::move(inbox)),
      limits_(limits),
      later_(std::move(later)) {
  everything_.kind.generation = feed_.generation();
}

void SseHub::start() {
  feed_.listen([this, intake = intake_, inbox = inbox_,
                events_max = limits_.intake_events_max](const ports::FeedBatch& batch) {
    // Later subscribers read this batch from disk.
    if (intake->subscribers.load() == 0) return;
    if (take_in(*intake, batch, events_max)) inbox->post([this] { deliver(); });
  });
}

void SseHub::stop() { feed_.listen({}); }

// Returns whether the network thread must be woken.
bool SseHub::take_in(Intake& intake, const ports::FeedBatch& batch, std::size_t events_max) {
  const std::scoped_lock lock(intake.mutex);
  if (intake.events + batch->size() > events_max && !intake.batches.empty()) {
    intake.missed = true;
  } else {
    intake.batches.push_back(batch);
    intake.events += batch->size();
  }
  return !std::exchange(intake.scheduled, true);
}

SseHub::Topic& SseHub::topic_of(const Subscriber& subscriber) {
  const auto& session = subscriber.start().session;
  return session ? topics_[*session] : everything_;
}

void SseHub::open(ports::Authorized<StreamStart> allowed, Ready ready, const MakeForm& form) {
  StreamStart start = std::move(allowed).take().request;
  const StreamKind kind = start.session ? StreamKind{} : everything_.kind;
  auto subscriber = std::make_shared<Subscriber>(std::move(start), kind, *this, limits_, metrics_,
                                                 form ? form(kind) : nullptr);
  // Subscribe before reading the first page, so that no fact is missed in between.
  topic_of(*subscriber).subscribers.push_back(subscriber);
  intake_->subscribers.fetch_add(1);
  metrics_.subscribers.fetch_add(1, std::memory_order_relaxed);
  waiting_reads_.push_back(
      {subscriber, [this, subscriber, ready = std::move(ready)](Result<FramesPage> page) mutable {
         if (!page) {
           close(*subscriber);
           return ready(std::unexpected(std::move(page).error()));
         }
         subscriber->page_arrived(std::move(page));
         ready(subscriber);
       }});
  start_reads();
}

void SseHub::read(ports::Authorized<StreamStart> allowed, PageSize size, ports::PageTo page_to) {
  StreamStart start = std::move(allowed).take().request;
  feed_.read({std::move(start.session), start.after, size.events_max, size.bytes_max,
              std::move(start.generation), std::move(start.types), start.from_end},
             std::move(page_to));
}

void SseHub::close(Subscriber& subscriber) {
  subscriber.detach();
  const auto& session = subscriber.start().session;
  const auto found = session ? topics_.find(*session) : topics_.end();
  if (session && found == topics_.end()) return;
  Topic& topic = session ? found->second : everything_;
  const auto same = [&](const std::shared_ptr<Subscriber>& other) {
    return other.get() == &subscriber;
  };
  const auto mine = std::ranges::find_if(topic.subscribers, same);
  if (mine == topic.subscribers.end()) return;
  const auto keep = *mine;  // the caller's reference may refer to this element
  std::swap(*mine, topic.subscribers.back());
  topic.subscribers.pop_back();
  if (session && topic.subscribers.empty()) topics_.erase(found);
  intake_->subscribers.fetch_sub(1);
  metrics_.subscribers.fetch_sub(1, std::memory_order_relaxed);
}

void SseHub::deliver() {
  std::vector<ports::FeedBatch> batches;
  bool missed = false;
  {
    const std::scoped_lock lock(intake_->mutex);
    batches.swap(intake_->batches);
    intake_->events = 0;
    missed = std::exchange(intake_->missed, false);
    intake_->scheduled = false;
  }
  Topic* topic = nullptr;
  const SessionId* session = nullptr;
  for (const ports::FeedBatch& batch : batches) {
    for (const ports::FeedEvent& event : *batch) {
      if (!session || *session != event.event.session) {
        session = &event.event.session;
        const auto found = topics_.find(*session);
        topic = found == topics_.end() ? nullptr : &found->second;
      }
      if (topic) render(*topic, event);
      if (!everything_.subscribers.empty()) render(everything_, event);
    }
  }
  for (Topic* changed : touched_) {
    publish(*changed);
    changed->touched = false;
  }
  touched_.clear();
  if (!missed) return;
  const auto tell = [this](const Topic& all) {
    for (const auto& subscriber : all.subscribers) {
      subscriber->missed();
      schedule_flush(subscriber);
    }
  };
  for (const auto& [id, each] : topics_) tell(each);
  tell(everything_);
}

void SseHub::render(Topic& topic, const ports::FeedEvent& event) {
  if (!topic.touched) {
    topic.touched = true;
    touched_.push_back(&topic);
  }
  if (topic.rendering && (!topic.rendering->follows(topic.kind.key_of(event)) ||
                          topic.rendering->text.size() >= kFramesBytesMax))
    publish(topic);
  if (!topic.rendering) topic.rendering = std::make_shared<Frames>();
  topic.rendering->add(event, topic.kind);
}

void SseHub::publish(Topic& topic) {
  if (!topic.rendering) return;
  const FramesPtr frames = std::exchange(topic.rendering, nullptr);
  for (const auto& subscriber : topic.subscribers) {
    subscriber->offer(frames);
    schedule_flush(subscriber);
  }
}

void SseHub::schedule_flush(const std::shared_ptr<Subscriber>& subscriber) {
  if (!subscriber->mark_for_flush()) return;
  to_flush_.push_back(subscriber);
  if (std::exchange(flush_scheduled_, true)) return;
  const auto pause = std::chrono::duration_cast<std::chrono::microseconds>(
      next_round_ - std::chrono::steady_clock::now());
  if (pause.count() > 0)
    later_(pause, [this] { flush_slice(); });
  else
    inbox_->post([this] { flush_slice(); });
}

void SseHub::flush_slice() {
  for (std::size_t i = 0; i < limits_.flush_slice && !to_flush_.empty(); ++i) {
    const std::shared_ptr<Subscriber> subscriber = std::move(to_flush_.front());
    to_flush_.pop_front();
    subscriber->flush();
    ++round_size_;
  }
  flush_scheduled_ = !to_flush_.empty();
  if (flush_scheduled_) return inbox_->post([this] { flush_slice(); });
  if (std::exchange(round_size_, 0) >= limits_.paced_from)
    next_round_ = std::chrono::steady_clock::now() + limits_.pace;
}

void SseHub::want_page(const std::shared_ptr<Subscriber>& subscriber) {
  waiting_reads_.push_back(
      {subscriber, [subscriber = std::weak_ptr(subscriber)](Result<FramesPage> page) {
         if (const auto reader = subscriber.lock()) reader->page_arrived(std::move(page));
       }});
  start_reads();
}

void SseHub::start_reads() {
  while (reading_.size() < limits_.page_reads_max && !waiting_reads_.empty()) {
    WaitingRead next = std::move(waiting_reads_.front());
    waiting_reads_.pop_front();
    const auto subscriber = next.subscriber.lock();
    if (subscriber) read_page(*subscriber, std::move(next.done));
  }
}

void SseHub::read_page(const Subscriber& subscriber, PageDone done) {
  const StreamStart& start = subscriber.start();
  ports::PageQuery query{start.session,
                         subscriber.sent(),
                         limits_.page_events_max,
                         limits_.page_bytes_max,
                         start.generation,
                         start.types,
                         start.from_end && subscriber.opening()};
  // `done` may own objects that must be destroyed on the network thread, so it stays here.
  const std::uint64_t ticket = ++last_ticket_;
  reading_.emplace(ticket, std::move(done));
  feed_.read(std::move(query),
             [this, ticket, inbox = inbox_, kind = subscriber.kind()](Result<ports::Page> page) {
               // Render on the reader's thread, to relieve the network thread.
               Result<FramesPage> out = std::unexpected(Error{});
               if (page) {
                 const auto frames = std::make_shared<Frames>();
                 for (const ports::FeedEvent& event : page->events) frames->add(event, kind);
                 out = FramesPage{frames, page->more, page->reached};
               } else {
                 out = std::unexpected(std::move(page).error());
               }
               inbox->post([this, ticket, out = std::move(out)]() mutable {
                 auto found = reading_.extract(ticket);
                 found.mapped()(std::move(out));
                 start_reads();
               });
             });
}

}  // namespace agentrt::channels
