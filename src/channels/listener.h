// channels/listener.h: a socket that listens, and the connections it takes.
//
// Running out of descriptors is a pause, never a spin and never the end of listening.
// open_*(): any thread. The rest: network thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/basic_waitable_timer.hpp>

#include "channels/connection.h"

namespace agentrt::channels {

using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>,
                                                boost::asio::io_context::executor_type>;

struct ListeningSocket {
  int descriptor = -1;
  std::uint16_t port = 0;
};

// `host` is a numeric address or localhost; port 0 picks one. unavailable: the address cannot be
// had; invalid_params: it is none.
Result<ListeningSocket> open_tcp(const std::string& host, std::uint16_t port);
// Mode 0600. Replaces a socket that nobody owns any more: the caller owns its folder.
Result<ListeningSocket> open_unix(const std::string& path);

class Listener : public std::enable_shared_from_this<Listener> {
 public:
  using Take = std::function<void(int descriptor)>;

  Listener(boost::asio::io_context& io, int descriptor, Duration backoff, Take take);

  void start();
  void close();

 private:
  // Takes what waits; false when the process has no descriptor left.
  bool accept_some();
  void pause();

  Descriptor socket_;
  Timer timer_;
  const Duration backoff_;
  Take take_;
  bool closed_ = false;
};

}  // namespace agentrt::channels
