// channels/sse_hub.h: distributes facts from the core to the subscribers of event streams.
//
// The core hands over each commit without blocking. However many commits are pending, the network
// thread is woken once, renders each fact once per stream, and offers the same bytes to every
// subscriber. They are written in slices, so that thousands of streams do not delay requests. With
// many subscribers, writes are batched into rounds with a short pause between them, so that one
// write carries several commits.
//
// The intake is bounded. Commits that do not fit are dropped; subscribers then read them from disk.
//
// Network thread only, except the intake.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "channels/authorization.h"
#include "channels/inbox.h"
#include "channels/subscriber.h"

namespace agentrt::channels {

class SseHub final : public SubscriberHost {
 public:
  using Ready = std::move_only_function<void(Result<std::shared_ptr<Subscriber>>)>;
  // Runs the task on the network thread after a delay, unless the server stops first.
  using Later = std::function<void(std::chrono::microseconds, Inbox::Task)>;

  // REQUIRES: `inbox` is closed before the hub is destroyed.
  SseHub(ports::FactFeed& feed, ports::Metrics& metrics, std::shared_ptr<Inbox> inbox,
         const StreamLimits& limits, Later later);

  // Subscribes to the feed until stop(). Any thread.
  void start();
  void stop();

  // Reads the first page, then passes the subscriber to `ready`, which must attach or close it. If
  // the feed rejects the stream, passes the error instead.
  // `form` makes the form of the stream's kind; empty: server-sent events.
  using MakeForm = std::function<StreamFormPtr(const StreamKind&)>;
  void open(ports::Authorized<StreamStart> allowed, Ready ready, const MakeForm& form = {});
  struct PageSize {
    std::size_t events_max;
    std::size_t bytes_max;
  };
  // Reads one page without subscribing; see FactFeed::read.
  void read(ports::Authorized<StreamStart> allowed, PageSize size, ports::PageTo page_to);
  const GenerationId& generation() const { return feed_.generation(); }
  const StreamLimits& limits() const { return limits_; }
  // Removes the subscriber.
  void close(Subscriber& subscriber);

  void want_page(const std::shared_ptr<Subscriber>& subscriber) override;

 private:
  // Commits that the core has handed over to the network thread.
  struct Intake {
    std::mutex mutex;
    std::vector<ports::FeedBatch> batches;
    std::size_t events = 0;
    bool missed = false;     // some commits did not fit
    bool scheduled = false;  // the network thread was woken and will drain it
    std::atomic<std::size_t> subscribers{0};
  };

  // A stream and its subscribers.
  struct Topic {
    StreamKind kind;
    std::vector<std::shared_ptr<Subscriber>> subscribers;
    std::shared_ptr<Frames> rendering;
    bool touched = false;
  };

  using PageDone = std::move_only_function<void(Result<FramesPage>)>;

  static bool take_in(Intake& intake, const ports::FeedBatch& batch, std::size_t events_max);
  Topic& topic_of(const Subscriber& subscriber);
  void deliver();
  void render(Topic& topic, const ports::FeedEvent& event);
  void publish(Topic& topic);
  void schedule_flush(const std::shared_ptr<Subscriber>& subscriber);
  void flush_slice();
  void start_reads();
  void read_page(const Subscriber& subscriber, PageDone done);

  ports::FactFeed& feed_;
  ports::Metrics& metrics_;
  const std::shared_ptr<Inbox> inbox_;
  const StreamLimits& limits_;
  const std::shared_ptr<Intake> intake_ = std::make_shared<Intake>();

  std::unordered_map<SessionId, Topic> topics_;
  Topic everything_;
  std::vector<Topic*> touched_;
  std::deque<std::shared_ptr<Subscriber>> to_flush_;
  bool flush_scheduled_ = false;
  std::size_t round_size_ = 0;  // subscribers written to since the last pause
  std::chrono::steady_clock::time_point next_round_{};
  const Later later_;

  struct WaitingRead {
    std::weak_ptr<Subscriber> subscriber;
    PageDone done;
  };
  std::deque<WaitingRead> waiting_reads_;                // at most one per subscriber
  std::unordered_map<std::uint64_t, PageDone> reading_;  // by ticket; at most page_reads_max
  std::uint64_t last_ticket_ = 0;
};

}  // namespace agentrt::channels
