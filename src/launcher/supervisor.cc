#include "launcher/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "launcher/inside.h"
#include "launcher/outside.h"

namespace agentrt::launcher {
namespace {

constexpr unsigned long kSetFlags = 0x40082104;  // SECCOMP_IOCTL_NOTIF_SET_FLAGS
constexpr unsigned long kSyncWakeUp = 1;
constexpr unsigned kToGroup = 1u << 2;  // PIDFD_SIGNAL_PROCESS_GROUP, Linux 6.9

}  // namespace

Supervisor::Supervisor(Parts parts)
    : parts_(std::move(parts)), spec_(parts_.spec), plain_(!parts_.control) {
  if (!plain_) connections_.add(std::move(parts_.control), Connections::Which::first);
  for (std::size_t i = 0; i < kLayers; ++i)
    if (parts_.dropped & bit(static_cast<Layer>(i)))
      layers_.emplace_back(static_cast<Layer>(i), "the kernel does not support it");
}

int Supervisor::run() {
  hear_signals();
  prepare();
  if (!spec_.run_folder.empty()) {
    ::mkdir(spec_.run_folder.c_str(), 0700);  // the runtime may have created it
    folder_ = Fd(::open(spec_.run_folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder_ || !exit_record_.open(folder_.get(), "exit.json")) refuse("run folder", errno);
    if (!out_.open(spec_.run_folder, "stdout", spec_.spool_bytes) ||
        !err_.open(spec_.run_folder, "stderr", spec_.spool_bytes))
      refuse("spool", errno);
    listen_for_others();
  }
  while (!inside_gone_) one_round();
  while (parts_.exec_pipe) hear_exec();  // the command's end of the pipe is closed
  drain_all();
  ended();
  const int status = status_.value_or(SIGKILL);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void Supervisor::hear_signals() {
  sigset_t heard;
  ::sigemptyset(&heard);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    ::signal(signal, SIG_DFL);  // an ignored signal would not reach the signalfd
    ::sigaddset(&heard, signal);
  }
  ::sigprocmask(SIG_BLOCK, &heard, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);  // with SIG_IGN the kernel would reap init
  signals_ = Fd(::signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK));
  const int on = 1;  // pass the sender's pid, translated to this pid namespace
  ::setsockopt(parts_.link.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
}

// Called first, because P1 is already running and waits for the result.
void Supervisor::prepare() {
  const std::string failed =
      prepare_outside(spec_, parts_.init, parts_.link.get(), parts_.groups, left_);
  if (!failed.empty()) refuse(failed, errno);
  if (!(spec_.wanted & bit(Layer::cgroup))) return;
  if (parts_.groups.any()) in_force_ |= bit(Layer::cgroup);
  layers_.emplace_back(Layer::cgroup, parts_.groups.how());
}

// Ends the launcher before the command has started, and reports why.
void Supervisor::refuse(const std::string& stage, int error) {
  parts_.gate.reset();
  ::syscall(SYS_pidfd_send_signal, parts_.init_fd.get(), SIGKILL, nullptr, 0);
  siginfo_t info{};
  ::waitid(P_PIDFD, static_cast<id_t>(parts_.init_fd.get()), &info, WEXITED);
  if (left_ > 0) ::waitpid(left_, nullptr, 0);
  parts_.locks.clean(spec_);
  parts_.groups.remove();
  const std::string record = "{\"event\":\"refused\",\"stage\":" + quoted(stage) +
                             ",\"errno\":" + std::to_string(error) +
                             ",\"layers\":" + layers_json() + "}";
  if (door_) {
    exit_record_.keep(record + "\n", Worth::passing);
    ::unlinkat(folder_.get(), kControlName, 0);
  }
  if (plain_)
    std::fprintf(stderr, "agentrt launcher: %s: %s\n", stage.c_str(), std::strerror(error));
  connections_.say_last(record);
  ::_exit(kFailedExit);
}

// --- the event loop ---

void Supervisor::one_round() {
  enum { kLink, kExec, kListener, kSignals, kOut, kErr, kMaster, kIn, kDoor, kInit, kHeld, kFixed };
  std::vector<pollfd> waits(kFixed + connections_.size());
  const auto wait = [&](std::size_t at, int fd, short events) { waits[at] = {fd, events, 0}; };
  wait(kLink, parts_.link.get(), POLLIN);
  wait(kExec, parts_.exec_pipe.get(), POLLIN);
  wait(kListener, listener_.get(), POLLIN);
  wait(kSignals, signals_.get(), POLLIN);
  wait(kHeld, parts_.held.refusals(), POLLIN);
  wait(kOut, parts_.out.get(), POLLIN);
  wait(kErr, parts_.err.get(), POLLIN);
  wait(kMaster, master_.get(), POLLIN);
  const bool to_write = !input_.empty() || input_ends_;
  wait(kIn, to_write ? (master_ ? master_.get() : parts_.in.get()) : -1, POLLOUT);
  wait(kDoor, connections_.full() ? -1 : door_.get(), POLLIN);
  wait(kInit, parts_.link ? -1 : parts_.init_fd.get(), POLLIN);  // only after the link has closed
  for (std::size_t i = 0; i < connections_.size(); ++i)
    wait(kFixed + i, connections_.descriptor(i), connections_.events(i));
  if (::poll(waits.data(), waits.size(), -1) < 0) return;
  if (waits[kListener].revents != 0) hear_listener(waits[kListener].revents);
  if (waits[kHeld].revents != 0)
    for (const std::string& refusal : parts_.held.take_refusals())
      report({"filesystem", refusal, "notify"});
  if (waits[kOut].revents != 0) drain(parts_.out, out_);
  if (waits[kErr].revents != 0) drain(parts_.err, err_);
  if (waits[kMaster].revents & (POLLIN | POLLHUP | POLLERR)) drain(master_, out_);
  if (waits[kIn].revents != 0) feed();
  if (waits[kExec].revents != 0) hear_exec();
  if (waits[kLink].revents != 0) hear_inside();
  if (waits[kSignals].revents != 0) take_signals();
  for (std::size_t i = connections_.size(); i-- > 0;)
    if (waits[kFixed + i].revents & (POLLIN | POLLHUP | POLLERR)) hear_connection(i);
  if (waits[kDoor].revents != 0) {
    Fd other(::accept4(door_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (other) connections_.add(std::move(other), Connections::Which::other);
  }
  connections_.flush([&] {
    return "{\"event\":\"output\",\"stdout\":" + std::to_string(out_.size()) +
           ",\"stderr\":" + std::to_string(err_.size()) + "}";
  });
  if (waits[kInit].revents != 0) inside_gone_ = true;
}

void Supervisor::hear_listener(short heard) {
  if ((heard & POLLIN) == 0) return listener_.reset();
  if (const auto violation = answer_question(listener_.get(), spec_, guarded_, parts_.held))
    report(*violation);
}

void Supervisor::report(const Violation& violation) {
  if (++violations_ > kViolationsTold) return;
  connections_.report("{\"event\":\"violation\",\"kind\":\"" + std::string(violation.kind) +
                      "\",\"attempted\":" + quoted(violation.attempted) + ",\"layer\":\"" +
                      violation.layer +
                      "\",\"advisory\":" + (violation.advisory ? "true" : "false") + "}");
}

void Supervisor::hear_inside() {
  Message message;
  Beside beside;
  if (!hear(parts_.link.get(), message, &beside)) {
    parts_.link.reset();
    return check_beginning();
  }
  switch (message.say) {
    case Say::placeholder:
      parts_.locks.made(message.text);
      return connections_.report("{\"event\":\"placeholder\",\"folder\":" +
                                 std::string(message.a != 0 ? "true" : "false") +
                                 ",\"path\":" + quoted(message.text) + "}");
    case Say::guarded:
      return take_guarded(message, std::move(beside.given));
    case Say::confined:
      take_layers(message.text);
      return take_descriptors(message, std::move(beside.given));
    case Say::ready:
      return say_ready(beside.speaker);
    case Say::exited:
      status_ = message.a;
      inside_gone_ = message.b == 1;
      return;
    case Say::failed:
      refuse(message.text, message.a);
    case Say::mapped:
    case Say::prepared:
      return;
  }
}

void Supervisor::take_descriptors(const Message& message, std::vector<Fd> given) {
  const auto named = static_cast<std::size_t>(message.a + message.b);
  if (given.size() != named) refuse("descriptors of the sandbox", EBADF);
  if (message.a == 1) {
    listener_ = std::move(given.front());
    ::ioctl(listener_.get(), kSetFlags, kSyncWakeUp);
  }
  if (message.b == 1) {
    master_ = std::move(given.back());
    ::fcntl(master_.get(), F_SETFL, O_RDWR | O_NONBLOCK);
  }
  check_layers();
}

void Supervisor::take_guarded(const Message& message, std::vector<Fd> given) {
  const auto index = static_cast<std::size_t>(message.a);
  if (given.size() != 1 || index >= spec_.guarded.size()) refuse("guarded folder", EBADF);
  Guarded folder{spec_.guarded[index], std::move(given.front()), {}};
  for (std::string_view names = message.text; !names.empty();) {
    const std::size_t end = std::min(names.find('\n'), names.size());
    folder.mounted.emplace_back(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  guarded_.push_back(std::move(folder));
}

// One line per layer: letter, 1 or 0, description (see Init::note).
void Supervisor::take_layers(std::string_view lines) {
  while (lines.size() > 2) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const auto layer = static_cast<Layer>(lines[0] - 'A');
    if (lines[1] == '1') in_force_ |= bit(layer);
    layers_.emplace_back(layer, lines.substr(2, end - 2));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  if (in_force_ & bit(Layer::network_namespace)) return;
  spec_.wanted &= ~bit(Layer::network_namespace);  // abstract sockets would be the host's
  if (spec_.network == Network::loopback) spec_.network = Network::none;  // P1 has done the same
}

void Supervisor::check_layers() {
  const Layers missing = spec_.required & ~in_force_;
  if (missing == 0) return;
  for (std::size_t i = 0; i < kLayers; ++i)
    if (missing & bit(static_cast<Layer>(i)))
      refuse(std::string(name_of(static_cast<Layer>(i))) + " is required but not enforced", 0);
}

void Supervisor::say_ready(pid_t command) {
  command_ = command;
  command_fd_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, command_, 0)));
  const std::string start = std::to_string(start_ticks(command_));
  connections_.report("{\"event\":\"ready\",\"pid\":" + std::to_string(command_) +
                      ",\"startTicks\":" + start + ",\"supervisor\":" + std::to_string(::getpid()) +
                      ",\"layers\":" + layers_json() + "}");
  if (plain_) open_gate();
}

void Supervisor::open_gate() {
  if (!parts_.gate) return;
  (void)!::write(parts_.gate.get(), "g", 1);
  parts_.gate.reset();
}

void Supervisor::hear_exec() {
  char bytes[16];
  const ssize_t size = ::read(parts_.exec_pipe.get(), bytes, sizeof(bytes));
  std::size_t at = 0;
  const auto length = size > 0 ? static_cast<std::size_t>(size) : 0;
  if (length > 0 && bytes[0] == kGoing && !going_) {
    going_ = true;
    at = 1;
  }
  int error = 0;
  if (length - at >= sizeof(error)) {
    std::memcpy(&error, bytes + at, sizeof(error));
    connections_.report("{\"event\":\"execFailed\",\"errno\":" + std::to_string(error) + "}");
    parts_.exec_pipe.reset();
  } else if (length == 0) {  // closed by exec, or the process died before it
    parts_.exec_pipe.reset();
    if (going_) return connections_.report("{\"event\":\"started\"}");
    check_beginning();
  }
}

// If P1 and the exec pipe are closed and the command has not started, it never will: refuse. If the
// supervisor itself killed it because the connection closed, that end is recorded instead.
void Supervisor::check_beginning() {
  if (parts_.link || parts_.exec_pipe || going_ || status_ || abandoned_) return;
  refuse("the sandbox ended before the command started", 0);
}

void Supervisor::take_signals() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof(info)) == sizeof(info))
    signal_command(static_cast<int>(info.ssi_signo));
}

// --- the command ---

void Supervisor::signal_command(int signal) {
  if (signal == SIGKILL || command_ <= 0) {
    parts_.gate.reset();
    ::syscall(SYS_pidfd_send_signal, parts_.init_fd.get(), SIGKILL, nullptr, 0);
    return;
  }
  if (status_) return;
  // Uses the pidfd, because the pid may have been reused. The command is a session leader, so it
  // cannot leave its process group.
  const auto send = [&](int what, unsigned to) {
    return ::syscall(SYS_pidfd_send_signal, command_fd_.get(), what, nullptr, to) == 0;
  };
  if (send(signal, kToGroup) || errno != EINVAL) return;
  if (send(0, 0)) ::kill(-command_, signal);  // before Linux 6.9, without kToGroup
}

void Supervisor::drain(Fd& from, Spool& spool) {
  char bytes[kReadBytes];
  const ssize_t size = ::read(from.get(), bytes, sizeof(bytes));
  if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (size <= 0) return from.reset();
  spool.add({bytes, static_cast<std::size_t>(size)});
  connections_.news();
}

// Reads the rest of the output. All writers inside are gone, so stop when no more is available,
// even if another process holds the pipe open.
void Supervisor::drain_all() {
  for (auto [from, spool] :
       {std::pair{&parts_.out, &out_}, {&parts_.err, &err_}, {&master_, &out_}})
    for (std::uint64_t before = ~std::uint64_t{0}; *from && spool->size() != before;) {
      before = spool->size();
      drain(*from, *spool);
    }
}

void Supervisor::feed() {
  const int to = master_ ? master_.get() : parts_.in.get();
  if (!input_.empty()) {
    const ssize_t written = ::write(to, input_.data(), input_.size());
    if (written > 0) input_.erase(0, static_cast<std::size_t>(written));
    if (written < 0 && errno != EAGAIN && errno != EINTR) {
      input_.clear();
      parts_.in.reset();
    }
  }
  if (input_.empty() && input_ends_) {
    input_ends_ = false;
    parts_.in.reset();
  }
}

// --- connections ---

void Supervisor::listen_for_others() {
  door_ = Fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // Through /proc/self/fd: the path of the folder may be too long for sun_path.
  std::snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", folder_.get(),
                kControlName);
  ::umask(0177);
  if (!door_ || ::bind(door_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(door_.get(), static_cast<int>(kConnectionsMax)) != 0)
    refuse("control socket", errno);
}

void Supervisor::hear_connection(std::size_t index) {
  const Connections::Which which = connections_.which(index);
  std::string order;
  switch (connections_.hear(index, order)) {
    case Connections::Received::order:
      return take_order(order, which);
    case Connections::Received::nothing:
      return;
    case Connections::Received::end:
      connections_.close(index);
  }
  // Only the first connection can open the gate. Without it, a command at the gate or one that must
  // not survive is killed.
  if (which != Connections::Which::first || (!parts_.gate && spec_.survive)) return;
  abandoned_ = true;
  signal_command(SIGKILL);
}

void Supervisor::take_order(std::string_view order, Connections::Which from) {
  const std::size_t space = std::min(order.find(' '), order.size());
  const std::string_view word = order.substr(0, space);
  const std::string rest(order.substr(std::min(space + 1, order.size())));
  if (word == "go") {
    if (from == Connections::Which::first) open_gate();
  } else if (word == "input" || word.empty()) {  // empty: the order was too long
    take_input(rest);
  } else if (word == "closeInput") {
    if (master_)
      input_ += '\x04';  // Ctrl-D, end of input on a terminal
    else
      input_ends_ = true;
  } else if (word == "signal") {
    signal_command(std::atoi(rest.c_str()));
  } else if (word == "resize" && master_) {
    unsigned rows = 0, columns = 0;
    if (std::sscanf(rest.c_str(), "%u %u", &rows, &columns) == 2) {
      const winsize size{static_cast<unsigned short>(rows), static_cast<unsigned short>(columns), 0,
                         0};
      ::ioctl(master_.get(), TIOCSWINSZ, &size);
    }
  } else if (word == "status") {
    connections_.news();
  }
}

void Supervisor::take_input(const std::string& bytes) {
  const bool open = master_ || parts_.in;
  if (open && !bytes.empty() && input_.size() + bytes.size() <= kInputBytesMax) {
    input_ += bytes;
    return;
  }
  connections_.report("{\"event\":\"inputRefused\",\"waiting\":" + std::to_string(input_.size()) +
                      ",\"open\":" + (open ? "true" : "false") + "}");
}

std::string Supervisor::layers_json() const {
  std::string out = "{";
  for (const auto& [layer, how] : layers_) {
    if (out.size() > 1) out += ',';
    out += "\"" + std::string(name_of(layer)) +
           "\":{\"enforced\":" + ((in_force_ & bit(layer)) != 0 ? "true" : "false") +
           ",\"how\":" + quoted(how) + "}";
  }
  return out + "}";
}

std::string Supervisor::record_of_end() const {
  const int status = status_.value_or(SIGKILL);
  const auto word = [](bool value) { return std::string(value ? "true" : "false"); };
  std::string limits;
  for (const std::string& limit : limits_hit_)
    limits += (limits.empty() ? "" : ",") + quoted(limit);
  return "{\"event\":\"exited\",\"code\":" +
         (WIFEXITED(status) ? std::to_string(WEXITSTATUS(status)) : std::string("null")) +
         ",\"signal\":" +
         (WIFSIGNALED(status) ? std::to_string(WTERMSIG(status)) : std::string("null")) +
         ",\"started\":" + word(going_) + ",\"stdout\":" + std::to_string(out_.size()) +
         ",\"stderr\":" + std::to_string(err_.size()) +
         ",\"truncated\":" + word(out_.truncated() || err_.truncated()) +
         ",\"abandoned\":" + word(abandoned_) + ",\"stdoutKept\":" + std::to_string(out_.kept()) +
         ",\"stderrKept\":" + std::to_string(err_.kept()) + ",\"limitsHit\":[" + limits +
         "],\"violations\":" + std::to_string(violations_) + "}";
}

void Supervisor::ended() {
  limits_hit_ = parts_.groups.hits();
  const std::string record = record_of_end();
  if (!spec_.run_folder.empty()) {
    if (spec_.survive) {
      out_.sync();
      err_.sync();
    }
    exit_record_.keep(record + "\n", spec_.survive ? Worth::kept : Worth::passing);
    ::unlinkat(folder_.get(), kControlName, 0);
  }
  // After this report the client may remove the run folder, so do not use it any more.
  connections_.say_last(record);
  // No client waits for the remaining steps.
  if (left_ > 0) ::waitpid(left_, nullptr, 0);
  parts_.link.reset();
  siginfo_t info{};
  ::waitid(P_PIDFD, static_cast<id_t>(parts_.init_fd.get()), &info, WEXITED);
  parts_.locks.clean(spec_);
  parts_.groups.remove();
}

}  // namespace agentrt::launcher
