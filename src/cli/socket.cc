#include "cli/socket.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>

#include <fmt/format.h>

namespace agentrt::cli {
namespace {

constexpr int kKind = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

std::string reason(int error) { return std::generic_category().message(error); }

std::unexpected<Error> nobody(std::string_view where, const std::string& why) {
  return fail(Code::unavailable, fmt::format("No server answers at {}: {}.", where, why));
}

Result<Descriptor> connect_to_path(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path))
    return fail(Code::unavailable,
                fmt::format("The path {} is too long for a socket (the limit is {} bytes); choose "
                            "a data folder with a shorter path with --data.",
                            path, sizeof(address.sun_path) - 1));
  path.copy(address.sun_path, path.size());
  Descriptor socket(::socket(AF_UNIX, kKind, 0));
  if (socket.get() < 0)
    return fail(Code::unavailable, fmt::format("Creating a socket failed: {}.", reason(errno)));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return nobody(path, reason(errno));
  return socket;
}

// Connects to one address of a host; returns 0 or the errno of the failure.
int connect_within(int fd, const addrinfo& address) {
  if (::connect(fd, address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd waiting{fd, POLLOUT, 0};
  if (::poll(&waiting, 1, kConnectTimeoutMs) <= 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof(error);
  ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

Result<Descriptor> connect_to_host(const Endpoint& endpoint) {
  const std::string where = endpoint.host + ":" + endpoint.port;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(endpoint.host.c_str(), endpoint.port.c_str(), &hints, &found);
      error != 0)
    return nobody(where, ::gai_strerror(error));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, ::freeaddrinfo);
  int error = EADDRNOTAVAIL;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    Descriptor socket(::socket(at->ai_family, kKind, 0));
    if (socket.get() < 0) continue;
    error = connect_within(socket.get(), *at);
    if (error == 0) return socket;
  }
  return nobody(where, reason(error));
}

}  // namespace

namespace {

Wire::Progress progress_of(TlsSession::Progress progress) {
  Wire::Progress out{progress.bytes, 0, progress.ended};
  if (progress.want == TlsSession::Want::read) out.wait_for = POLLIN;
  if (progress.want == TlsSession::Want::write) out.wait_for = POLLOUT;
  return out;
}

}  // namespace

Wire::Progress Wire::receive(std::span<char> into) {
  if (tls_) {
    const Progress progress = progress_of(tls_->read(into));
    if (progress.ended) problem_ = tls_->problem();
    return progress;
  }
  while (true) {
    const ssize_t size = ::recv(socket_.get(), into.data(), into.size(), 0);
    if (size > 0) return {static_cast<std::size_t>(size), 0, false};
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return {0, POLLIN, false};
    if (size < 0 && errno != ECONNRESET) problem_ = reason(errno);
    return {0, 0, true};
  }
}

Wire::Progress Wire::send(std::string_view bytes) {
  if (tls_) {
    const Progress progress = progress_of(tls_->write(bytes.substr(0, kTlsRecordBytes)));
    if (progress.ended) problem_ = tls_->problem();
    return progress;
  }
  while (true) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) return {static_cast<std::size_t>(sent), 0, false};
    if (errno == EINTR) continue;
    if (errno == EAGAIN) return {0, POLLOUT, false};
    if (errno != EPIPE && errno != ECONNRESET) problem_ = reason(errno);
    return {0, 0, true};
  }
}

Result<void> Wire::secure(const Endpoint& endpoint) {
  const std::string where = endpoint.host + ":" + endpoint.port;
  tls_ = TlsSession::connect(*endpoint.tls, socket_.get(), endpoint.host);
  while (true) {
    const Progress progress = progress_of(tls_->handshake());
    if (progress.ended && tls_->untrusted())
      return fail(Code::unavailable,
                  fmt::format("The certificate of {} is not trusted: {}; pass the certificate of "
                              "its authority with --ca-file.",
                              where, tls_->problem()));
    if (progress.ended)
      return nobody(where, tls_->problem().empty() ? "the TLS handshake failed" : tls_->problem());
    if (progress.wait_for == 0) return {};
    pollfd waiting{socket_.get(), progress.wait_for, 0};
    if (::poll(&waiting, 1, kConnectTimeoutMs) <= 0) return nobody(where, reason(ETIMEDOUT));
  }
}

Result<Wire> connect_to(const Endpoint& endpoint) {
  TRY_ASSIGN(Descriptor socket,
             endpoint.path.empty() ? connect_to_host(endpoint) : connect_to_path(endpoint.path));
  Wire wire(std::move(socket));
  if (endpoint.tls) TRY(wire.secure(endpoint));
  return wire;
}

Result<Url> parse_url(std::string_view text) {
  Url url;
  url.https = text.starts_with("https://");
  if (!url.https && !text.starts_with("http://"))
    return fail(Code::invalid_params,
                fmt::format("{} is not a URL like http://127.0.0.1:7717/v1/sessions/ID/events",
                            text.contains('@') ? "The text" : text));
  text.remove_prefix(url.https ? 8 : 7);
  const std::size_t slash = std::min(text.find('/'), text.size());
  std::string_view host = text.substr(0, slash), port = url.https ? "443" : "80";
  if (host.contains('@'))
    return fail(Code::invalid_params,
                "The URL contains a user name or a token, which would show in process lists; use "
                "--token-file or AGENTRT_TOKEN.");
  const std::size_t colon = host.rfind(':');
  if (colon != host.npos && host.find(']', colon) == host.npos) {
    port = host.substr(colon + 1);
    host = host.substr(0, colon);
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty() || port.empty() || port.find_first_not_of("0123456789") != port.npos)
    return fail(Code::invalid_params, "The URL needs a host and a port: http://HOST:PORT/…");
  url.endpoint.host = host;
  url.endpoint.port = port;
  url.target = slash == text.size() ? "/" : std::string(text.substr(slash));
  return url;
}

}  // namespace agentrt::cli
