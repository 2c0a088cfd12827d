// sim/followers.h: those who follow a session's stream, through the subscriber that the HTTP
// channel uses: readers that read, stop reading, lose their connection and resume from a cursor.
//
// What a follower has seen is held against the log frame by frame: the next sequence, the stored
// bytes. A connection does not outlive the runtime; what was seen does. Core only.
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

  // `stored_text` gives the event as the log has it; empty: there is none.
  Followers(Node& node, StoredText stored_text, std::function<void(Violation)> broken);
  ~Followers();

  // Connects, or connects anew, from behind what was seen.
  void follow(std::uint32_t follower, const SessionId& session);
  void stop_reading(std::uint32_t follower, const SessionId& session);
  void go_reading(std::uint32_t follower, const SessionId& session);
  void published(const ports::FeedBatch& batch);
  // The runtime is gone, and every connection with it.
  void disconnect();
  // Everyone reads, and whoever has no connection makes one. Again until caught_up().
  void read_all();
  // Each follower has seen the session up to `head_of` it.
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
