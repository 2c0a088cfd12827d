// channels/subscriber.h: one reader of one stream, from its resume point to the newest fact.
//
// A subscriber holds the key of the last frame it has queued (`sent`), and queues only frames that
// follow it. While frames arrive without gaps it is live. If a frame is missing or its queue is
// full, it is behind: it reads pages from disk, holds back a bounded number of live frames
// meanwhile, and is live again once the two meet. The stream therefore has no gaps and no
// duplicates, whatever its resume point.
//
// The queue of a subscriber is bounded, and its buffers are shared with other subscribers of the
// stream. A subscriber that was live and falls too far behind gets an overflow event with its
// resume point and is closed. One whose peer accepts no byte for too long is closed.
//
// Network thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "channels/limits.h"
#include "channels/stream_form.h"
#include "ports/metrics.h"

namespace agentrt::channels {

// A page of frames read from disk.
struct FramesPage {
  FramesPtr frames;
  bool more = false;
  std::uint64_t reached = 0;  // at least the last frame; beyond it if a filter left facts out
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
  std::optional<SessionId> session;  // default: all sessions
  std::uint64_t after = 0;
  std::optional<GenerationId> generation;  // the generation that the client expects
  std::vector<std::string> types = {};     // only events of these types; empty: all
  bool from_end = false;                   // ignores `after`: only facts that are stored later
  // Nothing after this key is sent before allow() raises it; absent: no limit. Such a subscriber
  // waits instead of falling behind. Without a filter only.
  std::optional<std::uint64_t> through = {};
};

class Subscriber : public std::enable_shared_from_this<Subscriber> {
 public:
  // `form`: null for server-sent events.
  Subscriber(StreamStart start, StreamKind kind, SubscriberHost& host, const StreamLimits& limits,
             ports::Metrics& metrics, StreamFormPtr form = nullptr);

  const StreamStart& start() const { return start_; }
  const StreamKind& kind() const { return kind_; }
  std::uint64_t sent() const { return sent_; }
  bool live() const { return state_ == State::live; }
  bool opening() const { return state_ == State::opening; }
  // A message is written in part: nothing else may be written to the connection before its rest.
  bool mid_message() const { return !queue_.empty() && !queue_.front().begins; }
  // That rest, of a subscriber that is about to be detached.
  Pieces take_rest();
  // It has sent its last message: an overflow or an error.
  bool finished() const { return state_ == State::ending && queue_.empty(); }
  bool closed() const { return state_ == State::closed; }
  bool overflowed() const { return overflowed_; }
  std::size_t queued_bytes() const { return queued_bytes_; }

  // Starts writing to `pipe`: `head` first, then the frames of the first page, which has been read
  // and showed that the stream exists.
  void attach(StreamPipe& pipe, std::string head);
  // The connection is gone.
  void detach();

  // Takes published frames of the stream. Does not write: flush() must follow.
  void offer(const FramesPtr& frames);
  // Published frames were dropped by the intake; they must be read from disk.
  void missed();
  void page_arrived(Result<FramesPage> page);

  // Marks the subscriber for flush(); returns whether it was unmarked.
  bool mark_for_flush() { return !std::exchange(marked_, true); }
  // Writes all queued frames, and requests a page if the subscriber is behind.
  void flush();
  void on_writable();
  // Sends what follows, up to `through`.
  void allow(std::uint64_t through);
  // Sends a message of its own between two events.
  void send_text(std::string text);
  // Closes the connection.
  void hang_up();
  // Sends keep-alives, and closes a stalled connection.
  void tick(Instant now);
  // Writes as much of the queue as the peer accepts at once; the caller closes the connection.
  void end();

 private:
  enum class State { opening, behind, live, ending, closed };

  bool waits() const { return sent_ >= through_; }
  bool has_room(const Frames& frames) const;
  void queue_text(std::string text);
  void queue_frames(const FramesPtr& frames);
  bool selects(const Frames& frames, std::size_t index) const;
  std::string place() const { return kind_.place_of(sent_); }
  void hold(const FramesPtr& frames);
  void finish_with(std::string frame);
  void overflow();
  bool write_queued();
  void advance();

  const StreamStart start_;
  const StreamKind kind_;
  SubscriberHost& host_;
  const StreamLimits& limits_;
  ports::Metrics& metrics_;
  const StreamFormPtr form_;
  StreamPipe* pipe_ = nullptr;

  State state_ = State::opening;
  std::uint64_t sent_;
  std::uint64_t head_;  // the newest known key
  std::uint64_t through_;
  bool overflowed_ = false;
  bool was_live_ = false;
  bool reading_ = false;    // a page read is in flight
  bool must_read_ = false;  // there are facts on disk beyond head_
  bool paused_ = false;     // the last read failed with overload; the next tick retries
  bool blocked_ = false;    // the peer must read first
  bool marked_ = false;     // a flush() is scheduled
  std::size_t retries_ = 0;

  Pieces queue_;
  std::size_t queued_bytes_ = 0;
  std::size_t queued_frames_ = 0;
  std::deque<FramesPtr> held_;
  std::size_t held_bytes_ = 0;
  std::size_t held_frames_ = 0;
  Instant progress_{};  // when the peer last accepted a byte, or was last offered one
};

}  // namespace agentrt::channels
