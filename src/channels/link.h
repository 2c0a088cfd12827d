// channels/link.h: the socket of one connection, plain or with TLS.
//
// Never blocks. Network thread only. Callbacks run later, never within the call that takes them.
// Pending operations keep what their callbacks hold alive; close() ends them.
#pragma once

#include <sys/uio.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include "base/tls.h"

namespace agentrt::channels {

using Descriptor =
    boost::asio::posix::basic_stream_descriptor<boost::asio::io_context::executor_type>;

class Link {
 public:
  virtual ~Link() = default;

  using ReadDone = std::move_only_function<void(bool ok, std::size_t got)>;
  // Reads at least one byte. `ok` is false if the connection has ended. One read at a time.
  virtual void read_some(std::span<char> into, ReadDone done) = 0;
  // Returns how many bytes were accepted; fewer than offered if the peer must read first. nullopt:
  // the connection is broken.
  virtual std::optional<std::size_t> write_now(std::span<const iovec> bytes) = 0;
  using Ready = std::move_only_function<void(bool ok)>;
  virtual void when_writable(Ready ready) = 0;
  // Ends pending operations without their effect.
  virtual void cancel() = 0;
  // Tells the peer that nothing follows; it may still send.
  virtual void shut_down() = 0;
  virtual void set_send_buffer(int bytes) = 0;
  // Accepted bytes are still sent, for a short time.
  virtual void close() = 0;
};
using LinkPtr = std::shared_ptr<Link>;

// Takes ownership of a connected, non-blocking socket.
LinkPtr plain_link(Descriptor socket);
LinkPtr tls_link(Descriptor socket, const TlsContext& context);

}  // namespace agentrt::channels
