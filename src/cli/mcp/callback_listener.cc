#include "cli/mcp/callback_listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <fmt/format.h>

#include "base/digest.h"
#include "base/url.h"

namespace agentrt::cli {
namespace {

using Clock = std::chrono::steady_clock;

std::string html_of(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

void send_page(int to, std::string_view status, std::string_view text) {
  const std::string body = fmt::format(
      "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">"
      "<title>agentrt</title><p style=\"font-family:sans-serif\">{}</p>\n",
      html_of(text));
  const std::string page = fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n"
      "Cache-Control: no-store\r\nConnection: close\r\n\r\n{}",
      status, body.size(), body);
  (void)::send(to, page.data(), page.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(to, SHUT_WR);
}

// The target of the request; empty: none arrived in time.
std::string read_target(int from, int within_ms, std::size_t bytes_max) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(within_ms);
  std::string head;
  while (!head.contains("\r\n\r\n") && head.size() < bytes_max) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd wait{from, POLLIN, 0};
    if (left <= 0 || ::poll(&wait, 1, static_cast<int>(left)) <= 0) return {};
    std::array<char, 4'096> piece;
    const ssize_t got = ::recv(from, piece.data(), piece.size(), MSG_DONTWAIT);
    if (got <= 0) return {};
    head.append(piece.data(), static_cast<std::size_t>(got));
  }
  if (!head.starts_with("GET ")) return {};
  const std::size_t end = head.find(' ', 4);
  return end == head.npos ? std::string() : head.substr(4, end - 4);
}

bool has_state(std::string_view target, std::string_view state) {
  const std::size_t question = target.find('?');
  if (target.substr(0, question) != "/callback" || question == target.npos) return false;
  const auto fields = form_decoded(target.substr(question + 1));
  const std::string* const given = fields ? find_field(*fields, "state") : nullptr;
  return given && equal_in_constant_time(*given, state);
}

}  // namespace

Result<CallbackListener> CallbackListener::open(std::uint16_t port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t size = sizeof address;
  const int reuse = 1;
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  if (!socket || ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse) != 0 ||
      ::bind(socket.get(), name, size) != 0 || ::listen(socket.get(), 8) != 0 ||
      ::getsockname(socket.get(), name, &size) != 0) {
    const bool taken = errno == EADDRINUSE;
    return fail(taken ? Code::conflict : Code::unavailable,
                fmt::format("Cannot listen on 127.0.0.1:{}: {}; try --no-listen.", port,
                            std::strerror(errno)));
  }
  return CallbackListener(std::move(socket), ntohs(address.sin_port));
}

std::string CallbackListener::redirect_uri() const {
  return fmt::format("http://127.0.0.1:{}/callback", port_);
}

std::optional<std::string> CallbackListener::accept(std::string_view state) {
  Descriptor browser(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!browser) return std::nullopt;
  std::string target = read_target(browser.get(), kRequestMs, kRequestBytesMax);
  if (!has_state(target, state)) {
    send_page(browser.get(), "400 Bad Request", "This is not the address of a login in progress.");
    return std::nullopt;
  }
  browser_ = std::move(browser);
  return target;
}

void CallbackListener::answer(std::string_view text) {
  if (browser_) send_page(browser_.get(), "200 OK", text);
  browser_ = Descriptor();
}

}  // namespace agentrt::cli
