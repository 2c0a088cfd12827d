#include "sim/channels/story_peer.h"

#include <charconv>

#include <fmt/format.h>

namespace agentrt::sim {

using schema::ChannelEnd;

void StoryPeer::page_arrived(Result<channels::FramesPage> page) {
  if (!stream_) return;
  const auto keep = stream_;
  keep->page_arrived(std::move(page));
  if (attached_ || !stream_) return;
  attached_ = true;
  keep->attach(*this, "");
}

void StoryPeer::offer(const channels::FramesPtr& frames) {
  if (!stream_) return;
  const auto keep = stream_;
  keep->offer(frames);
  if (attached_) keep->flush();
}

void StoryPeer::hang_up() {
  if (stream_) stream_->detach();
  stream_.reset();
  ended_ = true;
}

std::optional<ChannelEnd> StoryPeer::fault(channels::Instant) {
  return ended_ ? std::optional(ChannelEnd::connection_lost) : std::nullopt;
}

void StoryPeer::request_action(const ChannelId& channel, const channels::ActionRequest& request) {
  if (channel != memory_.channel)
    broken_({"requests",
             fmt::format("a peer of {} is asked for {}", memory_.channel.text(), channel.text())});
  if (!asked.insert(request.action.action_id).second)
    broken_({"requests",
             fmt::format("{} is asked twice on one connection", request.action.action_id.text())});
}

void StoryPeer::cancel_action(const ChannelId&, const ActionId& action) { asked.erase(action); }

void StoryPeer::action_refused(const ChannelId&, const ActionId&, const Error&) {}

void StoryPeer::may_deliver(const ChannelId&, Sequence through) {
  if (stream_) stream_->allow(through);
}

void StoryPeer::ended(const ChannelId&, ChannelEnd) { hang_up(); }

std::optional<std::size_t> StoryPeer::write_now(std::span<const iovec> bytes) {
  std::size_t taken = 0;
  for (const iovec& part : bytes) {
    partial_.append(static_cast<const char*>(part.iov_base), part.iov_len);
    taken += part.iov_len;
  }
  for (std::size_t end = 0; (end = partial_.find("\n\n")) != std::string::npos;) {
    take_frame(std::string_view(partial_).substr(0, end));
    partial_.erase(0, end + 2);
  }
  return taken;
}

void StoryPeer::close_stream() { hang_up(); }

void StoryPeer::take_frame(std::string_view frame) {
  const std::size_t at = frame.find("id: ");
  if (at == std::string_view::npos) return;
  Sequence sequence = 0;
  std::from_chars(frame.data() + at + 4, frame.data() + frame.size(), sequence);
  if (sequence != memory_.position + 1)
    broken_({std::string(invariant::kStreams),
             fmt::format("the peer of {} got {} after {}", memory_.channel.text(), sequence,
                         memory_.position)});
  memory_.position = sequence;
}

}  // namespace agentrt::sim
