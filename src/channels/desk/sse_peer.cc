#include "channels/desk/sse_peer.h"

#include <fmt/format.h>

#include "schema/json.h"

namespace agentrt::channels {

using schema::ChannelEnd;

void SsePeer::open(const std::shared_ptr<Subscriber>& stream) {
  const auto before = std::exchange(stream_, stream);
  if (before && !before->closed()) before->hang_up();
}

std::optional<ChannelEnd> SsePeer::fault(Instant now) {
  if (stream_ && stream_->overflowed()) return ChannelEnd::overflow;
  if (streams()) {
    alone_since_ = now;
    return std::nullopt;
  }
  stream_.reset();
  return now - alone_since_ > alone_max_ ? std::optional(ChannelEnd::connection_lost)
                                         : std::nullopt;
}

// A frame without id:, so that it does not change where the client resumes. Line breaks occur only
// between tokens of JSON.
void SsePeer::send(std::string_view event, std::string_view data) {
  if (!streams()) return;
  std::string text = fmt::format("event: {}\ndata: {}", event, data);
  for (std::size_t at = event.size() + 8; at < text.size(); ++at)
    if (text[at] == '\n' || text[at] == '\r') text[at] = ' ';
  stream_->send_text(text + "\n\n");
}

void SsePeer::request_action(const ChannelId&, const ActionRequest& request) {
  send("request_action", request.params);
}

void SsePeer::cancel_action(const ChannelId& channel, const ActionId& action) {
  send("cancel_action", about_action(channel, action));
}

void SsePeer::action_refused(const ChannelId& channel, const ActionId& action, const Error& error) {
  send("action_refused", about_action(channel, action, &error));
}

void SsePeer::may_deliver(const ChannelId&, Sequence through) {
  if (streams()) stream_->allow(through);
}

void SsePeer::ended(const ChannelId&, ChannelEnd) {
  if (streams()) stream_->hang_up();
}

}  // namespace agentrt::channels
