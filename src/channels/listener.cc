#include "channels/listener.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace agentrt::channels {
namespace {

using boost::system::error_code;

std::unexpected<Error> failed(std::string_view what, const std::string& where) {
  return fail(Code::unavailable,
              fmt::format("cannot {} {}: {}", what, where, std::strerror(errno)));
}

class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

std::uint16_t port_of(int descriptor) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET6)
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

Result<void> remove_stale(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return {};
    return failed("access", path);
  }
  if (!S_ISSOCK(info.st_mode))
    return fail(Code::unavailable, fmt::format("{} exists and is not a socket; remove it", path));
  if (::unlink(path.c_str()) != 0) return failed("remove", path);
  return {};
}

}  // namespace

Result<ListeningSocket> open_tcp(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string address = host == "localhost" ? "127.0.0.1" : host;
  const std::string where = fmt::format("{}:{}", host, port);
  if (::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found) != 0)
    return fail(
        Code::invalid_params,
        fmt::format(
            "{} is not an address to listen on; give a numeric address, as in 127.0.0.1:7717",
            where));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, &::freeaddrinfo);
  Socket socket(::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) return failed("open a socket for", where);
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(socket.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::listen(socket.get(), kListenBacklog) != 0)
    return failed("listen on", where);
  const std::uint16_t bound = port_of(socket.get());
  return ListeningSocket{socket.release(), bound};
}

Result<ListeningSocket> open_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return fail(Code::invalid_params, fmt::format("{} is too long for a socket: the limit is {} "
                                                  "bytes; choose a data folder with a shorter path",
                                                  path, sizeof address.sun_path - 1));
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  TRY(remove_stale(path));
  Socket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) return failed("open a socket for", path);
  // The socket file inherits this mode, so that it is never accessible to others.
  if (::fchmod(socket.get(), 0600) != 0) return failed("set the mode of", path);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return failed("listen on", path);
  if (::chmod(path.c_str(), 0600) != 0 || ::listen(socket.get(), kListenBacklog) != 0) {
    ::unlink(path.c_str());
    return failed("listen on", path);
  }
  return ListeningSocket{socket.release(), 0};
}

Listener::Listener(boost::asio::io_context& io, int descriptor, Duration backoff, Take take)
    : socket_(io.get_executor(), descriptor),
      timer_(io.get_executor()),
      backoff_(backoff),
      take_(std::move(take)) {}

void Listener::start() {
  if (closed_) return;
  socket_.async_wait(Descriptor::wait_read, [self = shared_from_this()](const error_code& error) {
    if (self->closed_) return;
    if (!error && self->accept_some()) return self->start();
    self->pause();
  });
}

bool Listener::accept_some() {
  for (int i = 0; i < kAcceptBurst && !closed_; ++i) {
    const int taken =
        ::accept4(socket_.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (taken >= 0) {
      // Replies are written in one piece, so Nagle's algorithm would only delay them. The call
      // fails harmlessly for Unix sockets.
      const int on = 1;
      ::setsockopt(taken, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      take_(taken);
    } else if (errno == EAGAIN) {
      return true;
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      return false;
    }  // any other error concerns a connection that is already gone
  }
  return true;
}

void Listener::pause() {
  timer_.expires_after(backoff_);
  timer_.async_wait([self = shared_from_this()](const error_code&) { self->start(); });
}

void Listener::close() {
  if (std::exchange(closed_, true)) return;
  error_code ignored;
  socket_.close(ignored);
  timer_.cancel();
}

}  // namespace agentrt::channels
