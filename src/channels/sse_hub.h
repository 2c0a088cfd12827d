// channels/sse_hub.h: facts from the core to everyone who follows a stream.
//
// The core hands over each commit without waiting; however many commits wait, the network thread is
// woken once, renders each fact once a stream, and offers the same bytes to every subscriber. They
// are then written in slices, so that thousands of streams delay no request, and with many of them
// in rounds a moment apart, so that a write carries what several commits brought.
//
// The intake is bounded: what does not fit is dropped there and read from disk by whoever needs it.
//
// Network thread only, but for the intake.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "channels/inbox.h"
#include "channels/subscriber.h"

namespace agentrt::channels {

class SseHub final : public SubscriberHost {
 public:
  using Ready = std::move_only_function<void(Result<std::shared_ptr<Subscriber>>)>;
  // Runs the task on the network thread after a while, unless the server ends before.
  using Later = std::function<void(std::chrono::microseconds, Inbox::Task)>;

  // REQUIRES: `inbox` is closed before the hub ends.
  SseHub(ports::FactFeed& feed, ports::Metrics& metrics, std::shared_ptr<Inbox> inbox,
         const StreamLimits& limits, Later later);

  // Listens to the feed, from any thread, until stop().
  void start();
  void stop();

  // Reads the first page and gives the subscriber to `ready`, to be attached or closed; or the
  // feed's reason why there is no such stream.
  void open(StreamStart start, Ready ready);
  // Forgets the subscriber.
  void close(Subscriber& subscriber);

  void want_page(const std::shared_ptr<Subscriber>& subscriber) override;

 private:
  // Where the core leaves commits for the network thread.
  struct Intake {
    std::mutex mutex;
    std::vector<ports::FeedBatch> batches;
    std::size_t events = 0;
    bool missed = false;     // some did not fit
    bool scheduled = false;  // the network thread will look
    std::atomic<std::size_t> subscribers{0};
  };

  // A stream and those who follow it.
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
  void read(const Subscriber& subscriber, PageDone done);

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
  std::deque<WaitingRead> waiting_reads_;                // at most one a subscriber
  std::unordered_map<std::uint64_t, PageDone> reading_;  // by ticket; at most page_reads_max
  std::uint64_t last_ticket_ = 0;
};

}  // namespace agentrt::channels
