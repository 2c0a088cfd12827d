// ports/channels.h: the kernel's interface for the connections of channels.
//
// Facts say which channels are connected; the connections themselves belong to src/channels. It
// reports their ends here, and gets a notice of every stored fact that concerns a connection.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "ports/loop.h"
#include "schema/reports.h"

namespace agentrt::ports {

struct ChannelNotice {
  enum class What {
    actions,       // the open actions that were forwarded to the channel have changed
    disconnected,  // by the stored fact; a newer connection is not meant
  };
  What what = What::actions;
  SessionId session;
  ChannelId channel;
  Sequence sequence = 0;                                   // of the fact
  schema::ChannelEnd reason = schema::ChannelEnd::closed;  // of a disconnection
};

class ChannelPlane {
 public:
  virtual ~ChannelPlane() = default;
  // Calls `listener` on the core for each stored fact, in order, before the reply of the command
  // that caused it; until it is replaced by an empty one. It must not block.
  virtual void listen_channels(std::function<void(const ChannelNotice&)> listener) = 0;
  // A connection has ended. `stored` (may be empty) runs on the core when that is stored or has
  // become irrelevant. Any thread.
  virtual void channel_lost(SessionId session, schema::ReportChannelLost report, Step stored) = 0;
  // Closes all channels of a revoked token. Any thread.
  virtual void close_channels_of(std::string token) = 0;
};

}  // namespace agentrt::ports
