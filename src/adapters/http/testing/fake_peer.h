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

// Listens on a free port. Serves one connection at a time; the test plays the server.
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

  // Accepts the next connection and returns its request, up to and including `end`.
  std::string accept(std::string_view end = "hello") {
    if (connection_ >= 0) ::close(connection_);
    need(ready(listener_), "nobody came");
    connection_ = ::accept(listener_, nullptr, nullptr);
    return receive(end);
  }
  // Receives until the data ends with `end`.
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
      if (sent <= 0) return;  // the client may close at any time
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  void close() {
    ::close(connection_);
    connection_ = -1;
  }
  // Whether the client has closed the connection.
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
