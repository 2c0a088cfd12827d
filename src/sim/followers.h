// sim/followers.h: simulated clients that follow a session's stream through the subscriber of the
// HTTP channel. They read, stop reading, lose their connection and resume from a cursor.
//
// Every frame that a follower receives is compared with the log: the sequence must be the next one,
// and the bytes must be those stored. A connection ends with the runtime; the follower's position
// does not. Core thread only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "channels/subscriber.h"
#include "sim/checks.h"
#include "sim/node.h"

namespace agentrt::sim {

class Followers final : public channels::SubscriberHost {
 public:
  using StoredText = std::function<std::string(const SessionId&, Sequence)>;

  // `stored_text` returns the event as stored in the log; empty: there is none.
  Followers(Node& node, StoredText stored_text, std::function<void(Violation)> broken);
  ~Followers();

  // Connects, or reconnects, after the last frame seen.
  void follow(std::uint32_t follower, const SessionId& session);
  void stop_reading(std::uint32_t follower, const SessionId& session);
  void go_reading(std::uint32_t follower, const SessionId& session);
  void published(const ports::FeedBatch& batch);
  // The runtime is gone, and with it every connection.
  void disconnect();
  // Makes every follower connect, if necessary, and read. Call again until caught_up().
  void read_all();
  // Whether each follower has seen its session up to head_of(session).
  bool caught_up(const std::function<Sequence(const SessionId&)>& head_of) const;

 private:
  class Follower;
  using Key = std::pair<std::uint32_t, SessionId>;

  void want_page(const std::shared_ptr<channels::Subscriber>& subscriber) override;
  Follower& of(std::uint32_t follower, const SessionId& session);

  Node& node_;
  StoredText stored_text_;
  std::function<void(Violation)> broken_;
  channels::StreamLimits limits_;
  std::size_t largest_frames_ = 0;
  std::map<Key, std::unique_ptr<Follower>> followers_;
};

}  // namespace agentrt::sim
