#include "launcher/inside.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "launcher/filter.h"
#include "launcher/landlock.h"
#include "launcher/outside.h"

namespace agentrt::launcher {
namespace {

class Init {
 public:
  Init(const Spec& spec, const Inside& inside) : spec_(spec), inside_(inside) {}

  [[noreturn]] void run() {
    begin();
    if (!wants(Layer::identity) && wants(Layer::user_namespace)) {
      if (!await_ids(link())) ::_exit(kFailedExit);
      in_force(Layer::user_namespace);
    }
    if (wants(Layer::network_namespace)) enter_network();
    if (wants(Layer::mount_namespace)) {
      const bool own_proc = set_up_mounts(spec_, *inside_.maps, inside_.link);
      in_force(Layer::mount_namespace);
      if (wants(Layer::pid_namespace))
        in_force(Layer::pid_namespace,
                 own_proc ? "enforced" : "/proc is empty: the kernel does not allow a new mount");
    } else if (wants(Layer::pid_namespace)) {
      in_force(Layer::pid_namespace, "without its own /proc");
    }
    if (!await_prepared(link(), prepared_)) ::_exit(kFailedExit);
    enter_cgroups();
    if (wants(Layer::identity)) become_unprivileged();
    if (spec_.tty) open_terminal();
    // By path, after the mounts: the inherited working directory is covered by them.
    if (::chdir(spec_.cwd.c_str()) != 0) give_up(link(), "cwd", spec_.cwd);
    check_folder();
    confine();
    start_and_wait();
  }

 private:
  int link() const { return inside_.link; }
  bool wants(Layer layer) const { return (spec_.wanted & bit(layer)) != 0; }
  // Layer states are collected and sent in one message, because each message wakes the supervisor.
  void in_force(Layer layer, std::string_view how = "enforced") { note(layer, '1', how); }
  void absent(Layer layer, std::string_view why) { note(layer, '0', why); }
  void note(Layer layer, char degree, std::string_view how) {
    layers_.append(1, static_cast<char>('A' + static_cast<int>(layer))).append(1, degree);
    layers_.append(how).append(1, '\n');
  }

  void begin() {
    live_with_supervisor();
    ::prctl(PR_SET_NAME, "agentrt-init");
    ::close(kSpecFd);
    ::close(kControlFd);
    if (!wants(Layer::ipc_namespace)) return;
    // Without a prepared IPC namespace, clone() has created one for this process.
    if (inside_.spaces->ready() && !inside_.spaces->enter_ipc()) give_up(link(), "ipc namespace");
    in_force(Layer::ipc_namespace);
  }

  // getppid() cannot tell whether the supervisor is alive: it is 0 in this pid namespace. Polling
  // the lifeline detects a supervisor that ended before prctl. The kernel clears PDEATHSIG when a
  // process changes its user, so this is called again after that.
  void live_with_supervisor() {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    pollfd gone{inside_.lifeline, POLLIN, 0};
    if (::poll(&gone, 1, 0) != 0) ::_exit(kFailedExit);
  }

  void enter_cgroups() {
    for (const Fd& entry : prepared_.cgroups)
      if (::write(entry.get(), "0", 1) != 1) give_up(link(), "cgroup");
    prepared_.cgroups.clear();
  }

  // Enters a private network with only a loopback interface. If the kernel does not allow one, the
  // command has no network, and the filter denies internet sockets.
  void enter_network() {
    if (inside_.spaces->enter_network() || (::unshare(CLONE_NEWNET) == 0 && loopback_up()))
      return in_force(Layer::network_namespace, "own loopback interface");
    absent(Layer::network_namespace, std::strerror(errno));
    spec_.network = Network::none;
  }

  // Under root: enters a user namespace whose only user owns nothing on the machine. The mounts
  // belong to the outer user namespace, so no capability inside can change them.
  void become_unprivileged() {
    // Drop root's supplementary groups now: they give access to files, and setgroups is not allowed
    // inside the namespace.
    if (::setgroups(0, nullptr) != 0 && ::getgroups(0, nullptr) != 0) give_up(link(), "groups");
    if (::setns(prepared_.identity.get(), CLONE_NEWUSER) != 0) give_up(link(), "user namespace");
    prepared_.identity.reset();
    if (::setresgid(kInnerId, kInnerId, kInnerId) != 0 ||
        ::setresuid(kInnerId, kInnerId, kInnerId) != 0)
      give_up(link(), "identity");
    live_with_supervisor();
    in_force(Layer::user_namespace);
    in_force(Layer::identity);
  }

  // The folder at this path may have been replaced since it was approved.
  void check_folder() {
    struct stat here{};
    if (spec_.cwd_identity.empty()) return;
    errno = ESTALE;
    if (::stat(".", &here) != 0 ||
        std::to_string(here.st_dev) + ":" + std::to_string(here.st_ino) != spec_.cwd_identity)
      give_up(link(), "the approved folder was replaced:", spec_.cwd);
  }

  // Uses the sandbox's own devpts, so that the terminal's name exists inside.
  void open_terminal() {
    master_ = ::open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    int unlock = 0;
    if (master_ < 0 || ::ioctl(master_, TIOCSPTLCK, &unlock) != 0) give_up(link(), "terminal");
    slave_ = ::ioctl(master_, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    const winsize size{spec_.rows, spec_.columns, 0, 0};
    if (slave_ < 0 || ::ioctl(slave_, TIOCSWINSZ, &size) != 0) give_up(link(), "terminal");
  }

  // Lowers a limit; never raises it above the inherited one.
  void limit(__rlimit_resource what, std::uint64_t value) {
    rlimit both{};
    ::getrlimit(what, &both);
    both.rlim_max = std::min<std::uint64_t>(value, both.rlim_max);
    both.rlim_cur = both.rlim_max;
    if (::setrlimit(what, &both) != 0) give_up(link(), "limits");
  }
  void set_limits() {
    limit(RLIMIT_NPROC, spec_.processes + 1);  // plus P1 itself
    limit(RLIMIT_NOFILE, spec_.open_files);
    limit(RLIMIT_CORE, 0);
    if (spec_.file_bytes > 0) limit(RLIMIT_FSIZE, spec_.file_bytes);
    if (spec_.address_bytes > 0) limit(RLIMIT_AS, spec_.address_bytes);
    // The kernel does not apply RLIMIT_NPROC to root; then only a cgroup limits processes.
    const bool root = ::geteuid() == 0 && !wants(Layer::identity) && !prepared_.processes_limited;
    std::string how = std::to_string(spec_.open_files) + " open files";
    if (!root) how = std::to_string(spec_.processes) + " processes, " + how;
    if (root) how += "; number of processes: not enforced";
    if (!prepared_.memory_limited) how += "; memory: not enforced";
    in_force(Layer::limits, how);
  }

  void drop_capabilities() {
    for (unsigned long each = 0; each <= 63; ++each)
      if (::prctl(PR_CAPBSET_DROP, each, 0, 0, 0) != 0) break;
    ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[2] = {};
    if (::syscall(SYS_capset, &header, none) != 0) give_up(link(), "capabilities");
    in_force(Layer::capabilities);
  }

  void confine() {
    if (wants(Layer::limits)) set_limits();
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) give_up(link(), "no new privileges");
    if (wants(Layer::capabilities)) drop_capabilities();
    if (wants(Layer::landlock)) {
      const int abi = restrict_with_landlock(spec_, link());
      if (abi > 0)
        in_force(Layer::landlock, "ABI " + std::to_string(abi));
      else
        absent(Layer::landlock, "the kernel has no Landlock");
    }
    int listener = -1;
    if (wants(Layer::seccomp)) {
      if (wants(Layer::notify)) listener = install_filter(spec_, Asking::on);
      if (listener < 0 && wants(Layer::notify))
        absent(Layer::notify,
               "the kernel does not support seccomp notifications: no Unix sockets, and blocked "
               "attempts are not reported");
      else if (listener >= 0)
        in_force(Layer::notify);
      if (listener < 0 && install_filter(spec_, Asking::off) != 0) give_up(link(), "seccomp");
      in_force(Layer::seccomp);
    }
    std::vector<int> given;
    for (const int each : {listener, master_})
      if (each >= 0) given.push_back(each);
    tell(link(), Say::confined, listener >= 0 ? 1 : 0, master_ >= 0 ? 1 : 0, layers_, given);
    for (const int each : given) ::close(each);
    ::prctl(PR_SET_DUMPABLE, 0);  // no process inside may inspect P1
  }

  [[noreturn]] void start_and_wait() {
    std::vector<char*> argv, env;
    for (const std::string& word : spec_.argv) argv.push_back(const_cast<char*>(word.c_str()));
    for (const std::string& word : spec_.env) env.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    env.push_back(nullptr);
    program_ = program_named(spec_.argv.front());
    const pid_t command = ::vfork();  // shares memory until exec, so nothing is copied
    if (command < 0) give_up(link(), "fork");
    if (command == 0) become_command(argv.data(), env.data());
    close_the_rest();
    for (;;) {
      int status = 0;
      const pid_t ended = ::waitpid(-1, &status, 0);
      if (ended == command) {
        const bool all = end_the_others();
        tell(link(), Say::exited, status, all ? 1 : 0);
        if (all) let_it_be_told();
        ::_exit(0);
      }
      if (ended < 0 && errno == ECHILD) ::_exit(kFailedExit);
    }
  }

  // Closes P1's copies of the command's descriptors, so that their readers see end of file. P1
  // keeps the terminal open until the command has ended: when no process has it open, the
  // supervisor closes its end, and the kernel then sends SIGHUP to the command, which may still be
  // running although it has closed its standard streams.
  void close_the_rest() const {
    const auto first = static_cast<unsigned>(slave_ < 0 ? link() : std::min(link(), slave_));
    const auto last = static_cast<unsigned>(std::max(link(), slave_));
    ::close_range(0, first - 1, 0);
    if (last > first + 1) ::close_range(first + 1, last - 1, 0);
    ::close_range(last + 1, ~0u, 0);
  }

  // Kills and reaps all other processes inside. The kernel would do that when P1 exits, but only
  // after removing the mounts, which would delay the exit report. False: not in a pid namespace of
  // its own.
  static bool end_the_others() {
    if (::getpid() != 1) return false;
    ::kill(-1, SIGKILL);
    while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
    return true;
  }

  // Waits until the supervisor has reported the exit and closed the link. P1's own exit is
  // expensive and could otherwise compete with the supervisor for a processor.
  void let_it_be_told() const {
    Message none;
    while (hear(link(), none)) {
    }
  }

  // Finds the program in the command's PATH: the first executable file, or else the first regular
  // file, or else "". Folders that cannot be read are skipped.
  std::string program_named(const std::string& name) const {
    if (name.find('/') != std::string::npos) return name;
    std::string_view path = "/usr/local/bin:/usr/bin:/bin";
    for (const std::string& variable : spec_.env)
      if (variable.starts_with("PATH=")) path = std::string_view(variable).substr(5);
    std::string there;
    while (!path.empty()) {
      const std::size_t end = std::min(path.find(':'), path.size());
      const std::string candidate = std::string(path.substr(0, end)) + "/" + name;
      path.remove_prefix(std::min(end + 1, path.size()));
      struct stat found{};
      if (candidate[0] != '/' || ::stat(candidate.c_str(), &found) != 0 || !S_ISREG(found.st_mode))
        continue;
      if (::access(candidate.c_str(), X_OK) == 0) return candidate;
      if (there.empty()) there = candidate;
    }
    return there;
  }

  // Runs in the memory of its parent (vfork), so it makes only syscalls.
  [[noreturn]] void become_command(char** argv, char** env) {
    ::setsid();
    if (slave_ >= 0) {
      ::ioctl(slave_, TIOCSCTTY, 0);
      for (int fd = 0; fd < 3; ++fd) ::dup2(slave_, fd);
    } else {
      ::dup2(inside_.in, 0);
      ::dup2(inside_.out, 1);
      ::dup2(inside_.err, 2);
    }
    tell(link(), Say::ready);
    char go = 0;
    ssize_t size = 0;
    while ((size = ::read(inside_.gate, &go, 1)) < 0 && errno == EINTR) {
    }
    if (size != 1) ::_exit(kFailedExit);
    const char going = kGoing;
    if (::write(inside_.exec_pipe, &going, 1) != 1) ::_exit(kFailedExit);
    // Program_ is a path; execvpe also runs scripts without a #! line.
    ::execvpe(program_.c_str(), argv, env);
    const int error = errno;
    (void)!::write(inside_.exec_pipe, &error, sizeof(error));
    ::_exit(error == ENOENT ? 127 : 126);
  }

  Spec spec_;
  const Inside& inside_;
  Prepared prepared_;
  std::string layers_;  // one line per layer: letter, 1 or 0, description
  std::string program_;
  int master_ = -1;
  int slave_ = -1;
};

}  // namespace

void run_inside(const Spec& spec, const Inside& inside) { Init(spec, inside).run(); }

}  // namespace agentrt::launcher
