// tests/sandbox/attack.cc: performs one attempt to escape the sandbox, selected by name.
//
// Exit status 0: it succeeded. 1: it was stopped; the error is on standard output. 99: unknown
// name. Contains only attempts that a shell script cannot make.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

using Words = std::vector<std::string>;

int outcome(bool worked) {
  if (worked) return 0;
  std::printf("%s\n", std::strerror(errno));
  return 1;
}
long number(const Words& words, std::size_t at) { return std::atol(words.at(at).c_str()); }
pid_t process(const Words& words) { return static_cast<pid_t>(number(words, 0)); }

sockaddr_un local(const std::string& path, socklen_t& size) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const bool abstract = path[0] == '@';
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof(address.sun_path) - 1));
  if (abstract) address.sun_path[0] = '\0';
  size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + (abstract ? 0 : 1));
  return address;
}

// --- network ---

int tcp(const Words& words) {
  const bool six = words.at(0).find(':') != std::string::npos;
  const int fd = ::socket(six ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
  if (fd < 0) return outcome(false);
  const auto port = htons(static_cast<std::uint16_t>(number(words, 1)));
  if (six) {
    sockaddr_in6 to{};
    to.sin6_family = AF_INET6;
    to.sin6_port = port;
    ::inet_pton(AF_INET6, words[0].c_str(), &to.sin6_addr);
    return outcome(::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0);
  }
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = port;
  ::inet_pton(AF_INET, words[0].c_str(), &to.sin_addr);
  return outcome(::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0);
}

// Sends a message to a UDP listener and waits for the reply.
int udp(const Words& words) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM, 0);
  if (fd < 0) return outcome(false);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(number(words, 1)));
  ::inet_pton(AF_INET, words[0].c_str(), &to.sin_addr);
  iovec bytes{const_cast<char*>("x"), 1};
  msghdr message{};
  message.msg_name = &to;
  message.msg_namelen = sizeof(to);
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  if (::sendmsg(fd, &message, 0) < 0) return outcome(false);
  const timeval wait{0, 300'000};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
  char answer = 0;
  return outcome(::recv(fd, &answer, 1, 0) == 1);
}

int stream(const Words& words) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd < 0) return outcome(false);
  socklen_t size = 0;
  const sockaddr_un to = local(words.at(0), size);
  return outcome(::connect(fd, reinterpret_cast<const sockaddr*>(&to), size) == 0);
}

// A datagram socket needs no connect; SOCK_RAW of this family is one too.
int datagram(const Words& words) {
  const int fd = ::socket(AF_UNIX, static_cast<int>(number(words, 1)), 0);
  if (fd < 0) return outcome(false);
  socklen_t size = 0;
  const sockaddr_un to = local(words.at(0), size);
  return outcome(::sendto(fd, "x", 1, 0, reinterpret_cast<const sockaddr*>(&to), size) == 1);
}
int paired_datagram(const Words& words) {
  int ends[2];
  if (::socketpair(AF_UNIX, static_cast<int>(number(words, 1)), 0, ends) != 0)
    return outcome(false);
  socklen_t size = 0;
  const sockaddr_un to = local(words.at(0), size);
  return outcome(::sendto(ends[0], "x", 1, 0, reinterpret_cast<const sockaddr*>(&to), size) == 1);
}

// One thread swaps the path between a harmless socket and the target while another connects.
int swapped_path(const Words& words) {
  socklen_t size = 0;
  const sockaddr_un good = local(words.at(0), size), bad = local(words.at(1), size);
  alignas(64) static sockaddr_un shared;
  std::memcpy(&shared, &good, sizeof(shared));
  std::atomic<bool> stop = false;
  std::thread swapper([&] {
    while (!stop) {
      std::memcpy(&shared, &bad, sizeof(shared));
      std::memcpy(&shared, &good, sizeof(shared));
    }
  });
  for (int i = 0; i < 1'000; ++i) {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    ::connect(fd, reinterpret_cast<const sockaddr*>(&shared), sizeof(shared));
    ::close(fd);
  }
  stop = true;
  swapper.join();
  return 0;  // the listener of the target knows whether it was reached
}

int vsock(const Words&) { return outcome(::socket(AF_VSOCK, SOCK_STREAM, 0) >= 0); }
int packet(const Words&) { return outcome(::socket(AF_PACKET, SOCK_RAW, 0) >= 0); }
int netlink_audit(const Words&) { return outcome(::socket(AF_NETLINK, SOCK_RAW, 9) >= 0); }

// --- the runtime and other processes ---

int ptrace_it(const Words& words) {
  if (::ptrace(PTRACE_ATTACH, process(words), nullptr, nullptr) != 0) return outcome(false);
  ::waitpid(process(words), nullptr, 0);
  ::ptrace(PTRACE_DETACH, process(words), nullptr, nullptr);
  return 0;
}
int read_memory(const Words& words) {
  char byte = 0;
  void* from = reinterpret_cast<void*>(std::strtoul(words.at(1).c_str(), nullptr, 16));
  iovec ours{&byte, 1}, theirs{from, 1};
  return outcome(::process_vm_readv(process(words), &ours, 1, &theirs, 1, 0) == 1);
}
int take_descriptor(const Words& words) {
  const long pidfd = ::syscall(SYS_pidfd_open, process(words), 0);
  return outcome(pidfd >= 0 && ::syscall(SYS_pidfd_getfd, pidfd, 0, 0) >= 0);
}
int signal_it(const Words& words) { return outcome(::kill(process(words), 0) == 0); }
int inherited(const Words& words) {
  const int fd = static_cast<int>(number(words, 0));
  return outcome(::fcntl(fd, F_GETFD) >= 0);
}
int init_memory(const Words&) { return outcome(::open("/proc/1/mem", O_RDWR) >= 0); }

// --- the kernel ---

int push_input(const Words& words) {
  // The kernel ignores the high half of the request.
  const unsigned long request = words.empty() ? TIOCSTI : TIOCSTI | (1ul << 32);
  return outcome(::syscall(SYS_ioctl, 0, request, "x") == 0);
}
int new_user_namespace(const Words&) { return outcome(::unshare(CLONE_NEWUSER) == 0); }
int clone_user_namespace(const Words&) {
  const long child = ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, 0);
  if (child == 0) ::_exit(0);
  return outcome(child > 0);
}
int clone3_user_namespace(const Words&) {
  struct {
    std::uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
  } how{CLONE_NEWUSER, 0, 0, 0, SIGCHLD, 0, 0, 0};
  const long child = ::syscall(SYS_clone3, &how, sizeof(how));
  if (child == 0) ::_exit(0);
  return outcome(child > 0);
}
int bind_mount(const Words& words) {
  return outcome(::mount(words.at(0).c_str(), words.at(1).c_str(), nullptr, MS_BIND, nullptr) == 0);
}
int remount(const Words& words) {
  return outcome(::mount(nullptr, words.at(0).c_str(), nullptr, MS_BIND | MS_REMOUNT, nullptr) ==
                 0);
}
int unmount(const Words& words) { return outcome(::umount2(words.at(0).c_str(), MNT_DETACH) == 0); }
int change_root(const Words& words) { return outcome(::chroot(words.at(0).c_str()) == 0); }
int make_device(const Words& words) {
  return outcome(::mknod(words.at(0).c_str(), S_IFCHR | 0666, makedev(1, 1)) == 0);
}
int key(const Words&) {
  return outcome(::syscall(SYS_add_key, "user", "agentrt-attack", "x", 1, -2 /* process */) > 0);
}
int userfault(const Words&) { return outcome(::syscall(SYS_userfaultfd, 1) >= 0); }
int ring(const Words&) {
  io_uring_params params{};
  return outcome(::syscall(SYS_io_uring_setup, 4, &params) >= 0);
}
int new_privileges(const Words&) { return outcome(::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0); }
int old_calls(const Words&) {  // getpid through the 32-bit syscall entry
#ifdef __x86_64__
  int result = 20;
  asm volatile("int $0x80" : "+a"(result) : : "memory");
  return result > 0 ? 0 : 1;
#else
  return 1;
#endif
}

// --- resource exhaustion ---

int fork_many(const Words& words) {
  ::setpgid(0, 0);  // so that they can be killed together
  long made = 0;
  for (; made < number(words, 0); ++made) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::pause();
      ::_exit(0);
    }
    if (child < 0) break;
  }
  std::printf("%ld\n", made);
  ::fflush(stdout);
  ::signal(SIGTERM, SIG_IGN);
  ::kill(0, SIGTERM);
  return made == number(words, 0) ? 0 : 1;
}
int take_memory(const Words& words) {  // in MiB
  for (long i = 0; i < number(words, 0); ++i) {
    void* part =
        ::mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (part == MAP_FAILED) return outcome(false);
    std::memset(part, 1, 1 << 20);
  }
  return 0;
}
int open_many(const Words& words) {
  long opened = 0;
  while (opened < number(words, 0) && ::open("/dev/null", O_RDONLY) >= 0) ++opened;
  std::printf("%ld\n", opened);
  return opened == number(words, 0) ? 0 : 1;
}

struct Attempt {
  const char* name;
  int (*run)(const Words&);
};
constexpr Attempt kAttempts[] = {{"tcp", tcp},
                                 {"udp", udp},
                                 {"stream", stream},
                                 {"datagram", datagram},
                                 {"paired_datagram", paired_datagram},
                                 {"swapped_path", swapped_path},
                                 {"vsock", vsock},
                                 {"packet", packet},
                                 {"netlink_audit", netlink_audit},
                                 {"ptrace", ptrace_it},
                                 {"read_memory", read_memory},
                                 {"take_descriptor", take_descriptor},
                                 {"signal", signal_it},
                                 {"inherited", inherited},
                                 {"init_memory", init_memory},
                                 {"push_input", push_input},
                                 {"new_user_namespace", new_user_namespace},
                                 {"clone_user_namespace", clone_user_namespace},
                                 {"clone3_user_namespace", clone3_user_namespace},
                                 {"bind_mount", bind_mount},
                                 {"remount", remount},
                                 {"unmount", unmount},
                                 {"change_root", change_root},
                                 {"make_device", make_device},
                                 {"key", key},
                                 {"userfault", userfault},
                                 {"ring", ring},
                                 {"new_privileges", new_privileges},
                                 {"old_calls", old_calls},
                                 {"fork_many", fork_many},
                                 {"take_memory", take_memory},
                                 {"open_many", open_many}};

}  // namespace

int main(int count, char** words) {
  const std::string name = count > 1 ? words[1] : "";
  for (const Attempt& attempt : kAttempts)
    if (name == attempt.name) return attempt.run(Words(words + 2, words + count));
  return 99;
}
