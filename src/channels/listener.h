// channels/listener.h: a listening socket that accepts connections.
//
// When the process runs out of descriptors, accepting pauses; it neither spins nor stops for good.
// open_*(): any thread. All other members: network thread only.
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

// `host` is a numeric address or localhost; port 0 selects a free port. Fails with unavailable if
// the address cannot be bound, and with invalid_params if it is not an address.
Result<ListeningSocket> open_tcp(const std::string& host, std::uint16_t port);
// Creates the socket with mode 0600, replacing a stale one. The caller must own the folder.
Result<ListeningSocket> open_unix(const std::string& path);

class Listener : public std::enable_shared_from_this<Listener> {
 public:
  using Take = std::function<void(int descriptor)>;

  Listener(boost::asio::io_context& io, int descriptor, Duration backoff, Take take);

  void start();
  void close();

 private:
  // Accepts pending connections; false if the process has no descriptors left.
  bool accept_some();
  void pause();

  Descriptor socket_;
  Timer timer_;
  const Duration backoff_;
  Take take_;
  bool closed_ = false;
};

}  // namespace agentrt::channels
