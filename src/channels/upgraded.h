// channels/upgraded.h: what a connection carries after it has left HTTP.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "channels/subscriber.h"

namespace agentrt::channels {

// The connection below.
class UpgradedPipe : public StreamPipe {
 public:
  // Sends nothing more, and closes when the peer has closed, or after a short time.
  virtual void end_stream() = 0;
  // Receives again, after Upgraded::receives() was false.
  virtual void receive_more() = 0;

 protected:
  ~UpgradedPipe() = default;
};

// Network thread only.
class Upgraded {
 public:
  enum class End { server_stops, token_revoked };

  virtual ~Upgraded() = default;
  virtual void received(std::string_view bytes) = 0;
  // False: the peer must read first.
  virtual bool receives() const = 0;
  virtual void on_writable() = 0;
  virtual void tick(Instant now) = 0;
  virtual void end(End why) = 0;
  // The connection is gone; the pipe must not be used any more.
  virtual void closed() = 0;
};
using MakeUpgraded = std::function<std::shared_ptr<Upgraded>(UpgradedPipe& pipe)>;

}  // namespace agentrt::channels
