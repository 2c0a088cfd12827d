// launcher/main.cc: runs one command in a sandbox.
//
// The runtime starts it with a Spec on descriptor 3 and a connection on descriptor 4, or an origin
// is forked with the same descriptors. Without a connection the command starts at once and the
// launcher exits with its exit code. The launcher creates the namespaces, starts P1 in them and
// becomes the supervisor.
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "launcher/inside.h"
#include "launcher/origin.h"
#include "launcher/supervisor.h"

namespace agentrt::launcher {
namespace {

constexpr std::size_t kSpecBytesMax = 16 << 20;
constexpr int kSignals = 65;

[[noreturn]] void stop(int control, const char* stage, const std::string& what = "") {
  const int error = errno;
  const std::string report = "{\"event\":\"refused\",\"stage\":" +
                             quoted(what.empty() ? stage : std::string(stage) + " " + what) +
                             ",\"errno\":" + std::to_string(error) + ",\"layers\":{}}";
  if (control >= 0)
    (void)!::send(control, report.data(), report.size(), MSG_NOSIGNAL);
  else
    std::fprintf(stderr, "agentrt launcher: %s %s: %s\n", stage, what.c_str(),
                 std::strerror(error));
  ::_exit(kFailedExit);
}

Spec read_spec(int control) {
  std::string bytes;
  char chunk[64 * 1024];
  for (;;) {
    const ssize_t size = ::read(kSpecFd, chunk, sizeof(chunk));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) stop(control, "reading the spec");
    if (size == 0) break;
    bytes.append(chunk, static_cast<std::size_t>(size));
    if (bytes.size() > kSpecBytesMax) break;
  }
  Spec spec;
  errno = EINVAL;
  if (!decode(bytes, spec)) stop(control, "the spec is incomplete");
  return spec;
}

bool is_socket(int fd) {
  struct stat found{};
  return ::fstat(fd, &found) == 0 && S_ISSOCK(found.st_mode);
}

void map_owners(const Spec& spec, int control, IdMaps& maps) {
  for (const std::string& root : spec.roots) {
    struct stat found{};
    if (::stat(root.c_str(), &found) != 0) stop(control, "root", root);
    if (!maps.add({found.st_uid, found.st_gid})) stop(control, "user namespace of a root daemon");
  }
}

unsigned long namespaces_of(const Spec& spec, const NextSpaces& spaces) {
  unsigned long flags = CLONE_PIDFD | SIGCHLD;
  const auto with = [&](Layer layer, unsigned long flag) {
    if (spec.wanted & bit(layer)) flags |= flag;
  };
  // With Layer::identity, P1 enters its user namespace later, after the mounts.
  if (!(spec.wanted & bit(Layer::identity))) with(Layer::user_namespace, CLONE_NEWUSER);
  with(Layer::mount_namespace, CLONE_NEWNS);
  with(Layer::pid_namespace, CLONE_NEWPID);
  with(Layer::ipc_namespace, spaces.ready() ? CLONE_NEWUTS : CLONE_NEWUTS | CLONE_NEWIPC);
  return flags;
}

// Starts P1 in new namespaces. If the kernel does not allow an IPC namespace and it is not
// required, retries without it and sets `dropped`.
pid_t clone_into(Spec& spec, const NextSpaces& spaces, int& init_fd, Layers& dropped) {
  const auto attempt = [&] {
    return static_cast<pid_t>(
        ::syscall(SYS_clone, namespaces_of(spec, spaces), nullptr, &init_fd, nullptr, 0));
  };
  constexpr Layers kIpc = bit(Layer::ipc_namespace);
  const pid_t init = attempt();
  if (init >= 0 || (spec.required & kIpc) != 0 || (spec.wanted & kIpc) == 0) return init;
  spec.wanted &= ~kIpc;
  dropped = kIpc;
  return attempt();
}

struct Pipe {
  Fd read, write;
};
Pipe make_pipe(int control) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) stop(control, "pipe");
  return {Fd(ends[0]), Fd(ends[1])};
}

// Makes the launcher end with its caller. With a connection, the supervisor notices that it closes.
// Without one, PDEATHSIG kills the launcher when the thread that started it ends.
void live_with_caller(const Spec& spec, int control) {
  const pid_t parent = ::getppid();
  if (spec.survive || spec.apart) ::setsid();
  if (control >= 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kFailedExit);
}

// Removes layers that do not apply. Without a private network, `loopback` becomes `none`.
void settle(Spec& spec) {
  if (::geteuid() != 0 || spec.mode == Mode::full_access)
    spec.wanted &= ~bit(Layer::identity), spec.required &= ~bit(Layer::identity);
  if (spec.network != Network::loopback) spec.wanted &= ~bit(Layer::network_namespace);
  if (!(spec.wanted & bit(Layer::network_namespace)) && spec.network == Network::loopback)
    spec.network = Network::none;
}

// A folder as standard stream would give the command a path to the host's files.
void check_own_stdio(int control) {
  for (int fd = 0; fd < 3; ++fd) {
    struct stat found{};
    errno = EISDIR;
    if (::fstat(fd, &found) == 0 && S_ISDIR(found.st_mode)) stop(control, "standard streams");
  }
}

struct Pipes {
  Pipe life, exec, gate;
  Pipe in, out, err;  // only with a run folder
};

Pipes make_pipes(const Spec& spec, int control) {
  Pipes pipes{make_pipe(control), make_pipe(control), make_pipe(control), {}, {}, {}};
  if (spec.run_folder.empty()) return pipes;
  if (spec.no_input)
    pipes.in.read = Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  else if (spec.given_input)
    pipes.in.read = Fd(::fcntl(0, F_DUPFD_CLOEXEC, 3));
  else
    pipes.in = make_pipe(control);
  pipes.out = make_pipe(control);
  pipes.err = make_pipe(control);
  return pipes;
}

[[noreturn]] void go_inside(const Spec& spec, Pipes& pipes, int link, const IdMaps& maps,
                            const NextSpaces& spaces) {
  const bool spooled = !spec.run_folder.empty();
  pipes.life.write.reset();
  pipes.gate.write.reset();
  Inside inside;
  inside.link = link;
  inside.lifeline = pipes.life.read.get();
  inside.exec_pipe = pipes.exec.write.get();
  inside.gate = pipes.gate.read.get();
  inside.in = spooled ? pipes.in.read.get() : 0;
  inside.out = spooled ? pipes.out.write.get() : 1;
  inside.err = spooled ? pipes.err.write.get() : 2;
  inside.maps = &maps;
  inside.spaces = &spaces;
  run_inside(spec, inside);
}

int supervise(Supervisor::Parts parts) {
  if (!parts.spec.run_folder.empty()) {
    for (const int own : {parts.in.get(), parts.out.get(), parts.err.get()})
      ::fcntl(own, F_SETFL, ::fcntl(own, F_GETFL) | O_NONBLOCK);
    const Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    for (int own = 0; own < 3; ++own) ::dup2(nothing.get(), own);
  }
  return Supervisor(std::move(parts)).run();
}

int launch(int control, IdMaps maps, NextSpaces spaces, Fd copies) {
  Spec spec = read_spec(control);
  // From here on, so that the setup of the sandbox gives way too. Failing means equal rank.
  if (spec.nice > 0) (void)::setpriority(PRIO_PROCESS, 0, spec.nice);
  errno = EINVAL;
  HeldFiles held;
  if (!held.take(spec, copies)) stop(control, "the approved files");
  copies.reset();
  if (spec.tty && spec.run_folder.empty()) stop(control, "a terminal needs a run folder");
  if (spec.run_folder.empty()) check_own_stdio(control);
  settle(spec);
  live_with_caller(spec, control);
  ::prctl(PR_SET_NAME, "agentrt-run");
  RootLocks locks;
  if (const std::string root = locks.hold(spec); !root.empty()) stop(control, "lock of", root);
  if (spec.wanted & bit(Layer::identity))
    map_owners(spec, control, maps);
  else
    maps.close();
  // P1 cannot enter the prepared namespaces from a new user namespace.
  if (namespaces_of(spec, spaces) & CLONE_NEWUSER) spaces.close();
  int link[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, link) != 0) stop(control, "link");
  Pipes pipes = make_pipes(spec, control);
  int init_fd = -1;
  Layers dropped = 0;
  const pid_t init = clone_into(spec, spaces, init_fd, dropped);
  if (init < 0) stop(control, "namespaces");
  if (init == 0) {
    ::close(link[0]);
    go_inside(spec, pipes, link[1], maps, spaces);
  }
  maps.close();
  spaces.close();
  ::close(link[1]);
  for (Fd* theirs :
       {&pipes.exec.write, &pipes.gate.read, &pipes.in.read, &pipes.out.write, &pipes.err.write})
    theirs->reset();
  return supervise({.spec = spec,
                    .init = init,
                    .init_fd = Fd(init_fd),
                    .link = Fd(link[0]),
                    .exec_pipe = std::move(pipes.exec.read),
                    .gate = std::move(pipes.gate.write),
                    .in = std::move(pipes.in.write),
                    .out = std::move(pipes.out.read),
                    .err = std::move(pipes.err.read),
                    .control = Fd(control),
                    .dropped = dropped,
                    .groups = {},
                    .locks = std::move(locks),
                    .held = std::move(held)});
}

// Restores default signal handling; the caller may have ignored or blocked signals.
void plain_signals() {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int signal = 1; signal < kSignals; ++signal) ::signal(signal, SIG_DFL);
}

}  // namespace
}  // namespace agentrt::launcher

int main(int count, char** words) {
  using namespace agentrt::launcher;
  plain_signals();
  ::umask(022);
  // Close all inherited descriptors except spec and connection, so that none reaches the sandbox.
  const bool stays = count == 2 && std::strcmp(words[1], kStay) == 0;
  const int control = is_socket(kControlFd) ? kControlFd : -1;
  ::close_range(static_cast<unsigned>(kControlFd) + (control >= 0 ? 1 : 0), ~0u, 0);
  IdMaps maps;
  NextSpaces spaces;
  Fd copies;
  if (stays && !become_copy(maps, spaces, copies)) ::_exit(0);
  ::fcntl(kSpecFd, F_SETFD, FD_CLOEXEC);
  if (control >= 0) ::fcntl(control, F_SETFD, FD_CLOEXEC);
  for (int fd = 0; fd < 3; ++fd)  // keep later descriptors out of 0 to 2
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", O_RDWR);
  ::_exit(launch(control, std::move(maps), std::move(spaces), std::move(copies)));
}
