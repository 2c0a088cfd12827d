// sim/channels/story_peer.h: a careful client of one channel, with its connection.
//
// What it must not forget (Memory) survives every crash of the runtime; its connection does not.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "channels/desk/channel_desk.h"
#include "sim/checks.h"

namespace agentrt::sim {

class StoryPeer final : public channels::ChannelPeer,
                        public channels::StreamPipe,
                        public std::enable_shared_from_this<StoryPeer> {
 public:
  // What a client stores.
  struct Memory {
    ChannelId channel;  // empty: it has none
    std::string token;
    std::string used;                     // the token of the last resumption
    std::vector<std::string> old_tokens;  // that must not work any more
    GenerationId generation;
    Sequence position = 0;
    Sequence acknowledged = 0;  // the newest value that a reply has confirmed
  };

  StoryPeer(Memory& memory, std::function<void(Violation)> broken)
      : memory_(memory), broken_(std::move(broken)) {}
  ~StoryPeer() { hang_up(); }

  // Uses the stream of the channel from now on.
  void follow(std::shared_ptr<channels::Subscriber> stream) {
    stream_ = std::move(stream);
    attached_ = false;
  }
  const std::shared_ptr<channels::Subscriber>& stream() const { return stream_; }
  void page_arrived(Result<channels::FramesPage> page);
  void offer(const channels::FramesPtr& frames);
  // Ends the connection from the client's side.
  void hang_up();
  bool ended() const { return ended_; }
  // Actions that it was asked about, that it has not answered, and that were not withdrawn.
  std::set<ActionId> asked;

  channels::Instant heard() const override { return channels::Instant::min(); }
  std::optional<schema::ChannelEnd> fault(channels::Instant) override;
  void request_action(const ChannelId& channel, const channels::ActionRequest& request) override;
  void cancel_action(const ChannelId& channel, const ActionId& action) override;
  void action_refused(const ChannelId& channel, const ActionId& action,
                      const Error& error) override;
  void may_deliver(const ChannelId& channel, Sequence through) override;
  void ended(const ChannelId& channel, schema::ChannelEnd reason) override;

  std::optional<std::size_t> write_now(std::span<const iovec> bytes) override;
  void wait_writable() override {}
  void close_stream() override;

 private:
  void take_frame(std::string_view frame);

  Memory& memory_;
  const std::function<void(Violation)> broken_;
  std::shared_ptr<channels::Subscriber> stream_;
  std::string partial_;
  bool attached_ = false;
  bool ended_ = false;
};

}  // namespace agentrt::sim
