#include "launcher/connections.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>

namespace agentrt::launcher {

void Connections::add(Fd connection, Which which) {
  Connection made;
  made.fd = std::move(connection);
  made.which = which;
  all_.push_back(std::move(made));
}

short Connections::events(std::size_t index) const {
  const Connection& one = all_[index];
  return static_cast<short>(POLLIN | (one.news || !one.waiting.empty() ? POLLOUT : 0));
}

Connections::Received Connections::hear(std::size_t index, std::string& order) {
  static char bytes[kOrderBytesMax];  // only one thread receives, and most orders are short
  const ssize_t size = ::recv(all_[index].fd.get(), bytes, sizeof(bytes),
                              MSG_DONTWAIT | MSG_TRUNC);  // MSG_TRUNC: return the real size
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return Received::nothing;
  if (size <= 0) return Received::end;
  const auto length = static_cast<std::size_t>(size);
  order.assign(bytes, length > kOrderBytesMax ? 0 : length);
  return Received::order;
}

void Connections::close(std::size_t index) {
  all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(index));
}

bool Connections::send(const Connection& to, const std::string& json) {
  return ::send(to.fd.get(), json.data(), json.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 ||
         (errno != EAGAIN && errno != EINTR);  // a closed peer is detected by its end of file
}

void Connections::send_waiting(Connection& to) {
  while (!to.waiting.empty() && send(to, to.waiting.front())) to.waiting.pop_front();
}

void Connections::report(const std::string& json) {
  for (Connection& each : all_) {
    if (each.waiting.empty() && send(each, json)) continue;
    if (each.waiting.size() < kReportsWaitingMax)
      each.waiting.push_back(json);
    else
      ::shutdown(each.fd.get(), SHUT_RDWR);  // seen as end of file
  }
}

void Connections::say_last(const std::string& json) {
  const timeval bound{kLastWordSeconds, 0};
  for (const Connection& each : all_) {
    ::fcntl(each.fd.get(), F_SETFL, 0);
    ::setsockopt(each.fd.get(), SOL_SOCKET, SO_SNDTIMEO, &bound, sizeof(bound));
    bool heard = true;
    for (const std::string& waiting : each.waiting)
      heard = heard && ::send(each.fd.get(), waiting.data(), waiting.size(), MSG_NOSIGNAL) >= 0;
    if (heard) (void)!::send(each.fd.get(), json.data(), json.size(), MSG_NOSIGNAL);
  }
}

}  // namespace agentrt::launcher
