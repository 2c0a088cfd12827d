// launcher/filter_test.cc: tests the action for each syscall, by interpreting the filter.
#include "launcher/filter.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>

namespace agentrt::launcher {
namespace {

constexpr unsigned kAllow = SECCOMP_RET_ALLOW, kAsk = SECCOMP_RET_USER_NOTIF;
constexpr unsigned kNo = SECCOMP_RET_ERRNO | EPERM, kUnknown = SECCOMP_RET_ERRNO | ENOSYS;
#ifdef __x86_64__
constexpr unsigned kMachine = AUDIT_ARCH_X86_64;
#else
constexpr unsigned kMachine = AUDIT_ARCH_AARCH64;
#endif

constexpr long kFchmodat2 = 452;

struct Outcome {
  unsigned answer = 0;
  std::size_t steps = 0;
};

// Interprets a BPF program as the kernel does.
Outcome run(const std::vector<sock_filter>& code, const seccomp_data& call) {
  unsigned a = 0;
  Outcome out;
  for (std::size_t at = 0; at < code.size(); ++at, ++out.steps) {
    const sock_filter& now = code[at];
    switch (now.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        std::memcpy(&a, reinterpret_cast<const char*>(&call) + now.k, sizeof(a));
        break;
      case BPF_ALU | BPF_AND | BPF_K:
        a &= now.k;
        break;
      case BPF_JMP | BPF_JA:
        at += now.k;
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
        at += a == now.k ? now.jt : now.jf;
        break;
      case BPF_JMP | BPF_JGE | BPF_K:
        at += a >= now.k ? now.jt : now.jf;
        break;
      case BPF_JMP | BPF_JSET | BPF_K:
        at += (a & now.k) != 0 ? now.jt : now.jf;
        break;
      case BPF_RET | BPF_K:
        out.answer = now.k;
        return out;
      default:
        FAIL("an instruction that is not known");
    }
  }
  FAIL("the filter ends without an answer");
  return out;
}

struct Filter {
  explicit Filter(Asking asking = Asking::on, bool writes = true,
                  Network network = Network::loopback) {
    Spec spec;
    spec.watch_writes = writes;
    spec.network = network;
    code = filter_of(spec, asking);
  }
  Outcome of(long number, std::vector<std::uint64_t> arguments = {}) const {
    seccomp_data call{};
    call.nr = static_cast<int>(number);
    call.arch = kMachine;
    for (std::size_t i = 0; i < arguments.size(); ++i) call.args[i] = arguments[i];
    return run(code, call);
  }
  unsigned operator()(long number, std::vector<std::uint64_t> arguments = {}) const {
    return of(number, std::move(arguments)).answer;
  }
  std::vector<sock_filter> code;
};

constexpr long kNumbers = 700;  // more than there are syscalls

}  // namespace

TEST_CASE("a call that is named as denied asks, one that changes a path too, others are allowed") {
  const Filter filter;
  const std::set<long> not_there{SYS_clone3, SYS_openat2, SYS_io_uring_setup, SYS_io_uring_enter,
                                 SYS_io_uring_register};
  const std::set<long> by_arguments{SYS_clone,  SYS_unshare, SYS_ioctl,  SYS_sendto,
                                    SYS_openat, SYS_fchmod,  kFchmodat2,
#ifdef __x86_64__
                                    SYS_open
#endif
  };
  std::map<unsigned, int> answers;
  for (long number = 0; number < kNumbers; ++number) {
    CAPTURE(number);
    const unsigned answer = filter(number);
    ++answers[answer];
    if (not_there.contains(number)) {
      CHECK(answer == kUnknown);
      continue;
    }
    const bool named = call_name(static_cast<int>(number)) != "call " + std::to_string(number);
    const WriteCall* write = write_call(static_cast<int>(number));
    const bool writes = write != nullptr && write->flags_at < 0;
    const bool asks = writes || (named && !by_arguments.contains(number));
    CHECK(answer == (asks ? kAsk : kAllow));
  }
  CHECK(answers.size() == 3);
  CHECK(answers[kAsk] > 60);
}

TEST_CASE("where nobody can be asked the same calls are refused, and nothing is watched") {
  const Filter asking(Asking::on, false), refusing(Asking::off, false);
  const std::set<long> sockets{SYS_socket, SYS_socketpair, SYS_connect, SYS_sendto};
  for (long number = 0; number < kNumbers; ++number) {
    CAPTURE(number);
    if (sockets.contains(number)) continue;
    const unsigned asked = asking(number);
    CHECK(refusing(number) == (asked == kAsk ? kNo : asked));
  }
  CHECK(refusing(SYS_mkdirat) == kAllow);
  CHECK(refusing(SYS_socket, {AF_UNIX, SOCK_STREAM}) == kNo);
  CHECK(refusing(SYS_socketpair, {AF_UNIX, SOCK_STREAM}) == kAllow);
  CHECK(refusing(SYS_connect) == kAllow);
}

TEST_CASE("where files are held, every call that could come by one asks") {
  Spec spec;
  spec.held_paths = {"/w/check.sh"};
  Filter held;
  held.code = filter_of(spec, Asking::on);
  const Filter plain(Asking::on, false);
  for (long number = 0; number < kNumbers; ++number) {
    CAPTURE(number);
    if (is_about_files(static_cast<int>(number)))
      CHECK(held(number) == kAsk);
    else
      CHECK(held(number) == plain(number));
  }
  for (const long number : {SYS_openat, SYS_execve, SYS_execveat, SYS_readlinkat, SYS_unlinkat})
    CHECK(is_about_files(static_cast<int>(number)));
  CHECK_FALSE(is_about_files(SYS_read));
}

TEST_CASE("of some calls the arguments decide") {
  const Filter filter;
  CHECK(filter(SYS_clone, {CLONE_VM | CLONE_FS}) == kAllow);
  CHECK(filter(SYS_clone, {CLONE_VM | CLONE_NEWUSER}) == kAsk);
  CHECK(filter(SYS_unshare, {CLONE_FILES}) == kAllow);
  CHECK(filter(SYS_unshare, {CLONE_NEWNS}) == kAsk);
  CHECK(filter(SYS_unshare, {0x80}) == kAsk);
  CHECK(filter(SYS_ioctl, {0, TCGETS}) == kAllow);
  CHECK(filter(SYS_ioctl, {0, TIOCSTI}) == kAsk);
  CHECK(filter(SYS_ioctl, {0, TIOCSTI | 1ull << 32}) == kAsk);  // the kernel uses only 32 bits
  CHECK(filter(SYS_openat, {0, 0, O_RDONLY | O_CLOEXEC}) == kAllow);
  CHECK(filter(SYS_openat, {0, 0, O_RDWR}) == kAsk);
  CHECK(filter(SYS_openat, {0, 0, O_RDONLY | O_CREAT}) == kAsk);
  CHECK(filter(SYS_sendto, {3, 0, 0, 0, 0}) == kAllow);
  CHECK(filter(SYS_sendto, {3, 0, 0, 0, 1}) == kAsk);
  CHECK(filter(SYS_sendto, {3, 0, 0, 0, 1ull << 32}) == kAsk);
}

TEST_CASE("no call gives a file a mode by which it runs as its owner or its group") {
  struct ModeArguments {
    long number;
    std::vector<std::uint64_t> before;  // arguments before the mode
  };
  const std::vector<ModeArguments> calls = {
#ifdef __x86_64__
      {SYS_chmod, {0}},
      {SYS_creat, {0}},
      {SYS_mknod, {0}},
      {SYS_open, {0, O_WRONLY | O_CREAT}},
      {SYS_open, {0, O_RDWR | O_TMPFILE}},
#endif
      {SYS_fchmod, {0}},
      {SYS_fchmodat, {0, 0}},
      {kFchmodat2, {0, 0}},
      {SYS_mknodat, {0, 0}},
      {SYS_openat, {0, 0, O_WRONLY | O_CREAT}},
      {SYS_openat, {0, 0, O_RDWR | O_TMPFILE}},
  };
  for (const bool writes : {false, true}) {
    const Filter asking(Asking::on, writes), refusing(Asking::off, writes);
    for (const ModeArguments& call : calls) {
      const long number = call.number;
      CAPTURE(number);
      const auto with = [&](std::uint64_t mode) {
        auto arguments = call.before;
        arguments.push_back(mode);
        return arguments;
      };
      for (const std::uint64_t mode : {04755, 02755, 06000}) {
        CHECK(asking(number, with(mode)) == kAsk);
        CHECK(refusing(number, with(mode)) == kNo);
        seccomp_data asked{};
        asked.nr = static_cast<int>(number);
        std::ranges::copy(with(mode), asked.args);
        CHECK(stopped_mode(asked) == mode);
      }
      CHECK(refusing(number, with(01777)) == kAllow);
      if (!writes) CHECK(asking(number, with(01777)) == kAllow);
    }
    // Without a flag that creates a file, the mode argument is ignored.
    CHECK(refusing(SYS_openat, {0, 0, O_RDONLY | O_DIRECTORY, 06777}) == kAllow);
    CHECK(asking(SYS_openat, {0, 0, O_RDONLY | O_DIRECTORY, 06777}) == kAllow);
    CHECK(refusing(SYS_openat, {0, 0, O_WRONLY, 06777}) == kAllow);
    CHECK(refusing(SYS_mkdirat, {0, 0, 02755}) == kAllow);
  }
}

TEST_CASE("sockets are local ones that connect, and those of the network there is") {
  for (const Network network : {Network::none, Network::loopback, Network::host}) {
    const Filter filter(Asking::on, true, network);
    const unsigned inet = network == Network::none ? kAsk : kAllow;
    CHECK(filter(SYS_socket, {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC}) == kAllow);
    CHECK(filter(SYS_socket, {AF_UNIX, SOCK_SEQPACKET}) == kAllow);
    CHECK(filter(SYS_socket, {AF_UNIX, SOCK_DGRAM}) == kAsk);
    CHECK(filter(SYS_socket, {AF_INET, SOCK_DGRAM}) == inet);
    CHECK(filter(SYS_socket, {AF_INET6, SOCK_STREAM}) == inet);
    CHECK(filter(SYS_socket, {AF_NETLINK, SOCK_RAW}) == inet);
    CHECK(filter(SYS_socket, {AF_PACKET, SOCK_RAW}) == kAsk);
    CHECK(filter(SYS_socketpair, {AF_UNIX, SOCK_DGRAM}) == kAsk);
    CHECK(filter(SYS_connect) == kAsk);
  }
}

TEST_CASE("another machine's calls end the process, and those of x32 are not there") {
  const Filter filter;
  seccomp_data call{};
  call.arch = kMachine + 1;
  CHECK(run(filter.code, call).answer == SECCOMP_RET_KILL_PROCESS);
  CHECK(filter(0x40000000) == kUnknown);
  CHECK(filter(0x40000000 | SYS_mount) == kUnknown);
}

TEST_CASE("no call takes the filter long: it is followed through for each when it is installed") {
  const Filter filter;
  for (long number = 0; number < kNumbers; ++number) CHECK(filter.of(number).steps < 40);
}

}  // namespace agentrt::launcher
