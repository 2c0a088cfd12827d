// launcher/link.h: what the parts of a launcher say to each other, and what it says outside.
//
// The supervisor H stays in the host's namespaces; P1, the first process inside, sets up the
// confinement, starts the command and reaps. They share a socket of whole messages. A part that
// cannot go on says so and ends: everything else ends with it.
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

inline constexpr int kFailedExit = 125;  // the launcher's own failure, not the command's

// A descriptor that closes itself.
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
  mapped,       // H: the ids of an ordinary user mean something inside
  prepared,     // H: what is made outside is made; see outside.h
  confined,     // P1: with the listener of its filter if a, the terminal if b; text: layers
  placeholder,  // P1 makes an empty file or folder to protect: text is its path
  guarded,      // P1: the tree of guarded folder a; text: its mounted names, a line each
  ready,        // the command is at the gate, and says so itself
  exited,       // P1: the command ended with wait status a; b is 1: so has all else inside
  failed,       // P1 gives up at stage text, with errno a
};

struct Message {
  Say say = Say::failed;
  std::int32_t a = 0;
  std::int32_t b = 0;
  char text[4'084] = {};
};

inline constexpr std::size_t kBesideMax = 8;  // descriptors beside one message

// What comes beside a message.
struct Beside {
  int speaker = 0;  // who said it, if the link passes that on
  std::vector<Fd> given;
};

// The descriptors of one part of what came beside a message, however many there are.
void take_given(const cmsghdr& rights, std::vector<Fd>& given);

// One whole message with descriptors beside it; as sendmsg, but for signals. More than kBesideMax
// of them are refused.
ssize_t send_beside(int link, iovec from, std::span<const int> given, int flags);

void tell(int link, Say say, std::int32_t a = 0, std::int32_t b = 0, std::string_view text = {},
          std::span<const int> given = {});
// False: the other side is gone.
bool hear(int link, Message& message, Beside* beside = nullptr);

// P1 tells H that it failed, with errno, and ends.
[[noreturn]] void give_up(int link, std::string_view stage, std::string_view what = {});

// A JSON string; bytes that are not UTF-8 become U+FFFD.
std::string quoted(std::string_view text);

}  // namespace agentrt::launcher
