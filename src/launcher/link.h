// launcher/link.h: the messages between the parts of a launcher, and shared types.
//
// The supervisor H stays in the host's namespaces. P1, the first process inside, sets up the
// confinement, starts the command and reaps children. They share a SOCK_SEQPACKET socket. A part
// that fails reports it and exits, which ends everything else.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/spec.h"

namespace agentrt::launcher {

inline constexpr int kFailedExit = 125;  // exit status if the launcher fails, not the command

// An owned file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() { reset(); }
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = other.release();
    }
    return *this;
  }
  Fd(const Fd&) = delete;

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset();
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  int fd_ = -1;
};

enum class Say : std::int32_t {
  mapped,       // H: the ids of an ordinary user are mapped
  prepared,     // H: the resources made outside are ready; see outside.h
  confined,     // P1: carries the seccomp listener if a, the terminal if b; text: layers
  placeholder,  // P1 creates an empty file or folder to protect: text is its path
  guarded,      // P1: the tree of guarded folder a; text: its mounted names, one per line
  ready,        // sent by the command's process itself: it waits at the gate
  exited,       // P1: the command ended with wait status a; b is 1: so did all others inside
  failed,       // P1 gives up at stage text, with errno a
};

struct Message {
  Say say = Say::failed;
  std::int32_t a = 0;
  std::int32_t b = 0;
  char text[4'084] = {};
};

inline constexpr std::size_t kBesideMax = 8;  // descriptors per message

// Ancillary data of a message.
struct Beside {
  int speaker = 0;  // pid of the sender, if the link passes it on
  std::vector<Fd> given;
};

// Takes all descriptors of one control message.
void take_given(const cmsghdr& rights, std::vector<Fd>& given);

// Sends one message with descriptors, as sendmsg, but retries after EINTR. Fails with more than
// kBesideMax descriptors.
ssize_t send_beside(int link, iovec from, std::span<const int> given, int flags);

void tell(int link, Say say, std::int32_t a = 0, std::int32_t b = 0, std::string_view text = {},
          std::span<const int> given = {});
// False: the peer has closed.
bool hear(int link, Message& message, Beside* beside = nullptr);

// P1 reports a failure with errno to H and exits.
[[noreturn]] void give_up(int link, std::string_view stage, std::string_view what = {});

// Encodes a JSON string; invalid UTF-8 becomes U+FFFD.
std::string quoted(std::string_view text);

}  // namespace agentrt::launcher
