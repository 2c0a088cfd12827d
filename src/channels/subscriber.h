// channels/subscriber.h: one reader of one stream, from where it left off to now.
//
// A subscriber holds the key of the last frame it has queued (`sent`), and queues only what follows
// it. While frames arrive as they should it is live. When one is missing, or its queue is full, it
// is behind: it reads pages from disk, holds back a bounded number of live frames meanwhile, and is
// live again once the two meet. So there is no seam, no repetition and no loss, however it began.
//
// What waits for a subscriber is bounded, and shared with the others of its stream. One that was
// live and falls too far behind is told where to resume and closed; one that takes no byte for too
// long is closed.
//
// Network thread only.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "channels/frames.h"
#include "channels/limits.h"
#include "ports/metrics.h"

namespace agentrt::channels {

// Where a subscriber's bytes go.
class StreamPipe {
 public:
  // How many bytes were taken at once: fewer than offered when the peer must read first. Nothing:
  // the connection is broken.
  virtual std::optional<std::size_t> write_now(std::span<const iovec> bytes) = 0;
  // Asks for one on_writable() once the peer has read.
  virtual void wait_writable() = 0;
  // Ends the connection. The subscriber is detached and does nothing more.
  virtual void close_stream() = 0;

 protected:
  ~StreamPipe() = default;
};

// What was read from disk for a subscriber.
struct FramesPage {
  FramesPtr frames;
  bool more = false;
};

class Subscriber;

class SubscriberHost {
 public:
  // Reads a page after the subscriber's `sent`, then calls page_arrived().
  virtual void want_page(const std::shared_ptr<Subscriber>& subscriber) = 0;

 protected:
  ~SubscriberHost() = default;
};

struct StreamStart {
  std::optional<SessionId> session;  // absent: all sessions
  std::uint64_t after = 0;
  std::optional<GenerationId> generation;  // the one the reader believes in
};

class Subscriber : public std::enable_shared_from_this<Subscriber> {
 public:
  Subscriber(StreamStart start, StreamKind kind, SubscriberHost& host, const StreamLimits& limits,
             ports::Metrics& metrics);

  const StreamStart& start() const { return start_; }
  const StreamKind& kind() const { return kind_; }
  std::uint64_t sent() const { return sent_; }
  bool live() const { return state_ == State::live; }
  std::size_t queued_bytes() const { return queued_bytes_; }

  // Takes the first page, which also proved that the stream may begin; then the bytes go to `pipe`,
  // `head` before all.
  void attach(StreamPipe& pipe, std::string head);
  // The connection is gone.
  void detach();

  // Frames of the stream, as they are published. Writes nothing: flush() follows.
  void offer(const FramesPtr& frames);
  // Frames were published that no one kept; they are on disk.
  void missed();
  void page_arrived(Result<FramesPage> page);

  // Whether flush() is not yet called for; from then on it is.
  bool mark_for_flush() { return !std::exchange(marked_, true); }
  // Writes everything queued, and asks for more where the subscriber is behind.
  void flush();
  void on_writable();
  // Keeps the connection alive, and ends it where it stalls.
  void tick(Instant now);
  // Writes what is queued as far as the peer takes it at once; the caller closes.
  void end();

 private:
  enum class State { opening, behind, live, ending, closed };

  struct Piece {
    std::shared_ptr<const std::string> text;
    std::size_t offset = 0;
    std::size_t frames = 0;
  };

  bool has_room(const Frames& frames) const;
  void queue_text(std::string text);
  void queue_frames(const FramesPtr& frames);
  void hold(const FramesPtr& frames);
  void finish_with(std::string frame);
  void overflow();
  bool write_queued();
  void consume(std::size_t bytes);
  void advance();

  const StreamStart start_;
  const StreamKind kind_;
  SubscriberHost& host_;
  const StreamLimits& limits_;
  ports::Metrics& metrics_;
  StreamPipe* pipe_ = nullptr;

  State state_ = State::opening;
  std::uint64_t sent_;
  std::uint64_t head_;  // the newest key heard of
  bool was_live_ = false;
  bool reading_ = false;    // a page is on its way
  bool must_read_ = false;  // there is more on disk than head_ says
  bool paused_ = false;     // the last read was refused for load; the next tick asks again
  bool blocked_ = false;    // the peer must read first
  bool marked_ = false;     // whoever offered frames will call flush()
  std::size_t retries_ = 0;

  std::deque<Piece> queue_;
  std::size_t queued_bytes_ = 0;
  std::size_t queued_frames_ = 0;
  std::deque<FramesPtr> held_;
  std::size_t held_bytes_ = 0;
  std::size_t held_frames_ = 0;
  Instant progress_{};  // when the peer last took a byte, or was last offered one
};

}  // namespace agentrt::channels
