// adapters/http/testing/fake_peer.h: a server whose every byte a test chooses.
#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace agentrt::adapters {

inline constexpr int kPeerWaitMs = 5'000;

// Listens on a port of its own; a test plays the server, one connection at a time.
class Peer {
 public:
  Peer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    need(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0, "no port");
    need(::listen(listener_, 8) == 0, "no port");
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~Peer() {
    if (connection_ >= 0) ::close(connection_);
    ::close(listener_);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/v1"; }

  // The next connection, and the request that came on it, up to `end`.
  std::string accept(std::string_view end = "hello") {
    if (connection_ >= 0) ::close(connection_);
    need(ready(listener_), "nobody came");
    connection_ = ::accept(listener_, nullptr, nullptr);
    return receive(end);
  }
  // What comes until `end` has come.
  std::string receive(std::string_view end) {
    std::string got;
    char piece[4096];
    while (!got.ends_with(end)) {
      need(ready(connection_), "nothing came");
      const ssize_t size = ::recv(connection_, piece, sizeof piece, 0);
      if (size <= 0) break;
      got.append(piece, static_cast<std::size_t>(size));
    }
    return got;
  }
  void send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(connection_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;  // the other side has closed, which it may
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  void close() {
    ::close(connection_);
    connection_ = -1;
  }
  // Whether the other side has closed.
  bool closed() {
    char piece[64];
    return ready(connection_) && ::recv(connection_, piece, sizeof piece, 0) <= 0;
  }

 private:
  static void need(bool holds, const char* what) {
    if (!holds) throw std::runtime_error(what);
  }
  static bool ready(int fd) {
    pollfd one{fd, POLLIN, 0};
    return ::poll(&one, 1, kPeerWaitMs) == 1;
  }

  int listener_;
  int connection_ = -1;
  unsigned short port_ = 0;
};

}  // namespace agentrt::adapters
