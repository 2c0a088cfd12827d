#include "wire.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace agentrt::bench {

void die(const std::string& what) {
  fmt::print(stderr, "bench: {}\n", what);
  std::exit(1);
}

Options::Options(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    if (!name.starts_with("--")) die(fmt::format("not an option: {}", name));
    values_[std::string(name.substr(2))] = argv[i + 1];
  }
}

std::string Options::text(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) die(fmt::format("--{} is required", name));
  return found->second;
}

std::string Options::text_or(const std::string& name, const std::string& otherwise) const {
  const auto found = values_.find(name);
  return found == values_.end() ? otherwise : found->second;
}

std::uint64_t Options::number(const std::string& name, std::uint64_t otherwise) const {
  const auto found = values_.find(name);
  return found == values_.end() ? otherwise : std::strtoull(found->second.c_str(), nullptr, 10);
}

int connect_to(const Target& target, Blocking blocking) {
  const int sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (sock < 0) die(fmt::format("socket: {}", std::strerror(errno)));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(target.port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(sock, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    die(fmt::format("connect: {}", std::strerror(errno)));
  const int on = 1;
  setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (blocking == Blocking::no) fcntl(sock, F_SETFL, fcntl(sock, F_GETFL) | O_NONBLOCK);
  return sock;
}

void send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) die(fmt::format("send: {}", std::strerror(errno)));
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string post_text(const Target& target, std::string_view path, std::string_view body) {
  return fmt::format(
      "POST {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n"
      "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
      path, target.port, target.token, body.size(), body);
}

std::string stream_text(const Target& target, std::string_view path) {
  return fmt::format(
      "GET {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n"
      "Accept: text/event-stream\r\n\r\n",
      path, target.port, target.token);
}

std::string upgrade_text(const Target& target, std::string_view path) {
  return fmt::format(
      "GET {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n"
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
      "Sec-WebSocket-Key: YmVuY2htYXJrIGNsaWVudA==\r\n\r\n",
      path, target.port, target.token);
}

std::string text_frame(std::string_view message) {
  constexpr std::size_t kShortMax = 125;
  if (message.size() > 0xffff) die("the message is too long for a frame of this program");
  const auto size = static_cast<unsigned>(message.size());
  std::string frame = "\x81";
  if (size <= kShortMax) {
    frame += static_cast<char>(0x80 | size);
  } else {
    frame += "\xfe";
    frame += static_cast<char>(size >> 8);
    frame += static_cast<char>(size & 0xff);
  }
  frame.append(4, '\0');  // a mask of zeros leaves the message as it is
  return frame.append(message);
}

bool ReplyReader::take(std::string_view bytes) {
  buffer_.append(bytes);
  const std::size_t end = buffer_.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  if (!buffer_.starts_with("HTTP/1.1 200")) die(fmt::format("refused: {}", buffer_));
  constexpr std::string_view kLength = "content-length:";
  const auto same = [](char a, char b) { return std::tolower(a) == b; };
  const auto at = std::search(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(end),
                              kLength.begin(), kLength.end(), same);
  if (at == buffer_.begin() + static_cast<std::ptrdiff_t>(end)) die("a reply without a length");
  std::size_t value = static_cast<std::size_t>(at - buffer_.begin()) + kLength.size();
  while (buffer_[value] == ' ') ++value;
  std::size_t length = 0;
  std::from_chars(buffer_.data() + value, buffer_.data() + end, length);
  return buffer_.size() >= end + 4 + length;
}

double percentile(std::vector<double>& samples, double share) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  const auto place = static_cast<std::size_t>(share * static_cast<double>(samples.size() - 1));
  return samples[place];
}

double micros_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

}  // namespace agentrt::bench
