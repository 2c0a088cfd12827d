#include "launcher/link.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace agentrt::launcher {

namespace {

void take_beside(msghdr& header, Beside& beside) {
  for (const cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr;
       part = CMSG_NXTHDR(&header, const_cast<cmsghdr*>(part))) {
    if (part->cmsg_type == SCM_CREDENTIALS) {
      ucred who{};
      std::memcpy(&who, CMSG_DATA(part), sizeof(who));
      beside.speaker = who.pid;
    } else if (part->cmsg_type == SCM_RIGHTS) {
      take_given(*part, beside.given);
    }
  }
}

}  // namespace

void take_given(const cmsghdr& rights, std::vector<Fd>& given) {
  const std::size_t count = (rights.cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (std::size_t i = 0; i < count; ++i) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(&rights) + i * sizeof(fd), sizeof(fd));
    given.emplace_back(fd);
  }
}

ssize_t send_beside(int link, iovec from, std::span<const int> given, int flags) {
  errno = E2BIG;
  if (given.size() > kBesideMax) return -1;
  alignas(cmsghdr) char beside[CMSG_SPACE(kBesideMax * sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &from;
  header.msg_iovlen = 1;
  if (!given.empty()) {
    header.msg_control = beside;
    header.msg_controllen = CMSG_SPACE(given.size_bytes());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(given.size_bytes());
    std::memcpy(CMSG_DATA(rights), given.data(), given.size_bytes());
  }
  ssize_t sent = 0;
  while ((sent = ::sendmsg(link, &header, flags)) < 0 && errno == EINTR) {
  }
  return sent;
}

void tell(int link, Say say, std::int32_t a, std::int32_t b, std::string_view text,
          std::span<const int> given) {
  Message message;
  message.say = say;
  message.a = a;
  message.b = b;
  const std::size_t size = std::min(text.size(), sizeof(message.text) - 1);
  if (size > 0) std::memcpy(message.text, text.data(), size);
  send_beside(link, {&message, offsetof(Message, text) + size + 1}, given, MSG_NOSIGNAL);
}

bool hear(int link, Message& message, Beside* beside) {
  message = {};
  iovec into{&message, sizeof(message) - 1};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(kBesideMax * sizeof(int))];
  msghdr header{};
  header.msg_iov = &into;
  header.msg_iovlen = 1;
  for (;;) {
    header.msg_control = room;
    header.msg_controllen = sizeof(room);
    const ssize_t size = ::recvmsg(link, &header, MSG_CMSG_CLOEXEC);
    // ECONNRESET: the peer closed with unread data. It is reported once, before the peer's own
    // messages.
    if (size < 0 && (errno == EINTR || errno == ECONNRESET)) continue;
    if (size <= 0) return false;
    if (beside != nullptr) take_beside(header, *beside);
    return true;
  }
}

void give_up(int link, std::string_view stage, std::string_view what) {
  const int error = errno;
  std::string text(stage);
  if (!what.empty()) text.append(" ").append(what);
  tell(link, Say::failed, error, 0, text);
  ::_exit(kFailedExit);
}

namespace {

// The length of the UTF-8 character at the front; 0: invalid.
std::size_t character_size(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t size = first < 0x80                    ? 1
                           : first >= 0xc2 && first < 0xe0 ? 2
                           : first >= 0xe0 && first < 0xf0 ? 3
                           : first >= 0xf0 && first < 0xf5 ? 4
                                                           : 0;
  if (size == 0 || size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  const auto second = size > 1 ? static_cast<unsigned char>(text[1]) : 0;
  const bool wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                     (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  return wrong ? 0 : size;
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const auto byte = static_cast<unsigned char>(c);
    const std::size_t size = character_size(text.substr(at));
    if (size > 1) {
      out.append(text.substr(at, size));
      at += size - 1;
    } else if (size == 0) {
      out += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      out.append(1, '\\').push_back(c);
    } else if (byte < 0x20 || byte == 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", byte);
      out += escaped;
    } else {
      out.push_back(c);
    }
  }
  return out + "\"";
}

void Fd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

}  // namespace agentrt::launcher
