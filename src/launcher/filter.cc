#include "launcher/filter.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <iterator>
#include <map>
#include <span>

namespace agentrt::launcher {
namespace {

struct Call {
  int number;
  const char* name;
};

// Syscalls to leave the sandbox, to inspect other processes, or to change the machine.
constexpr Call kDenied[] = {
    {SYS_ptrace, "ptrace"},
    {SYS_process_vm_readv, "process_vm_readv"},
    {SYS_process_vm_writev, "process_vm_writev"},
    {SYS_kcmp, "kcmp"},
    {SYS_pidfd_getfd, "pidfd_getfd"},
    {SYS_mount, "mount"},
    {SYS_umount2, "umount2"},
    {SYS_pivot_root, "pivot_root"},
    {SYS_chroot, "chroot"},
    {SYS_move_mount, "move_mount"},
    {SYS_open_tree, "open_tree"},
    {467, "open_tree_attr"},
    {SYS_fsopen, "fsopen"},
    {SYS_fsconfig, "fsconfig"},
    {SYS_fsmount, "fsmount"},
    {SYS_fspick, "fspick"},
    {SYS_mount_setattr, "mount_setattr"},
    {SYS_setns, "setns"},
    {SYS_keyctl, "keyctl"},
    {SYS_add_key, "add_key"},
    {SYS_request_key, "request_key"},
    {SYS_bpf, "bpf"},
    {SYS_userfaultfd, "userfaultfd"},
    {SYS_perf_event_open, "perf_event_open"},
    {SYS_kexec_load, "kexec_load"},
    {SYS_kexec_file_load, "kexec_file_load"},
    {SYS_init_module, "init_module"},
    {SYS_finit_module, "finit_module"},
    {SYS_delete_module, "delete_module"},
    {SYS_reboot, "reboot"},
    {SYS_swapon, "swapon"},
    {SYS_swapoff, "swapoff"},
    {SYS_acct, "acct"},
    {SYS_quotactl, "quotactl"},
    {SYS_quotactl_fd, "quotactl_fd"},
    {SYS_settimeofday, "settimeofday"},
    {SYS_clock_settime, "clock_settime"},
    {SYS_clock_adjtime, "clock_adjtime"},
    {SYS_adjtimex, "adjtimex"},
    {SYS_syslog, "syslog"},
    {SYS_vhangup, "vhangup"},
    {SYS_open_by_handle_at, "open_by_handle_at"},
    {SYS_fanotify_init, "fanotify_init"},
    {SYS_sethostname, "sethostname"},
    {SYS_setdomainname, "setdomainname"},
#ifdef __x86_64__
    {SYS_iopl, "iopl"},
    {SYS_ioperm, "ioperm"},
    {SYS_modify_ldt, "modify_ldt"},
    {SYS_uselib, "uselib"},
    {SYS__sysctl, "_sysctl"},
#endif
};

// Syscalls that are denied only with certain arguments.
constexpr Call kPartlyDenied[] = {{SYS_clone, "clone"},           {SYS_unshare, "unshare"},
                                  {SYS_ioctl, "ioctl"},           {SYS_socket, "socket"},
                                  {SYS_socketpair, "socketpair"}, {SYS_connect, "connect"},
                                  {SYS_sendto, "sendto"}};

// Syscalls that set a file's mode. With `flags_at`, only if these flags create a file. (mkdir is
// missing because the kernel ignores the setuid and setgid bits there.)
struct ModeCall {
  int number;
  const char* name;
  int mode_at;
  int flags_at = -1;
};
constexpr ModeCall kModes[] = {
#ifdef __x86_64__
    {SYS_open, "open", 2, 1},     {SYS_creat, "creat", 1},     {SYS_chmod, "chmod", 1},
    {SYS_mknod, "mknod", 1},
#endif
    {SYS_openat, "openat", 3, 2}, {SYS_fchmod, "fchmod", 1},   {SYS_fchmodat, "fchmodat", 2},
    {452, "fchmodat2", 2},        {SYS_mknodat, "mknodat", 2},
};
constexpr unsigned kSetId = S_ISUID | S_ISGID, kModeBits = 07777;
constexpr unsigned kMakesFile = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);

// Syscalls that change a path, with the argument indexes of start folder and path. -1: no start
// folder (relative to the working directory), or no second path.
constexpr WriteCall kWrites[] = {
#ifdef __x86_64__
    {SYS_open, "open", {{-1, 0}}, 1},
    {SYS_creat, "creat", {{-1, 0}}},
    {SYS_unlink, "unlink", {{-1, 0}}},
    {SYS_rename, "rename", {{-1, 0}, {-1, 1}}},
    {SYS_renameat, "renameat", {{0, 1}, {2, 3}}},
    {SYS_mkdir, "mkdir", {{-1, 0}}},
    {SYS_rmdir, "rmdir", {{-1, 0}}},
    {SYS_link, "link", {{-1, 1}}},
    {SYS_symlink, "symlink", {{-1, 1}}},
    {SYS_chmod, "chmod", {{-1, 0}}},
    {SYS_chown, "chown", {{-1, 0}}},
    {SYS_lchown, "lchown", {{-1, 0}}},
    {SYS_mknod, "mknod", {{-1, 0}}},
#endif
    {SYS_openat, "openat", {{0, 1}}, 2},
    {SYS_unlinkat, "unlinkat", {{0, 1}}},
    {SYS_renameat2, "renameat2", {{0, 1}, {2, 3}}},
    {SYS_mkdirat, "mkdirat", {{0, 1}}},
    {SYS_linkat, "linkat", {{2, 3}}},
    {SYS_symlinkat, "symlinkat", {{1, 2}}},
    {SYS_truncate, "truncate", {{-1, 0}}},
    {SYS_fchmodat, "fchmodat", {{0, 1}}},
    {SYS_fchownat, "fchownat", {{0, 1}}},
    {SYS_utimensat, "utimensat", {{0, 1}}},
    {SYS_mknodat, "mknodat", {{0, 1}}},
};

// Syscalls that the supervisor performs in a guarded folder.
struct GuardedCall {
  int number;
  WriteAsked::What what;
  int flags_at = -1;
  int mode_at = -1;
  int flags = 0;  // for a syscall without a flags argument
};
constexpr GuardedCall kGuarded[] = {
#ifdef __x86_64__
    {SYS_open, WriteAsked::What::open, 1, 2},
    {SYS_creat, WriteAsked::What::open, -1, 1, O_CREAT | O_WRONLY | O_TRUNC},
    {SYS_unlink, WriteAsked::What::unlink},
    {SYS_rename, WriteAsked::What::rename},
    {SYS_renameat, WriteAsked::What::rename},
    {SYS_mkdir, WriteAsked::What::mkdir, -1, 1},
    {SYS_rmdir, WriteAsked::What::rmdir},
#endif
    {SYS_openat, WriteAsked::What::open, 2, 3},
    {SYS_unlinkat, WriteAsked::What::unlink, 2},
    {SYS_renameat2, WriteAsked::What::rename, 4},
    {SYS_mkdirat, WriteAsked::What::mkdir, -1, 2},
};

const GuardedCall* guarded_call(int number) {
  const auto* const found = std::ranges::find(kGuarded, number, &GuardedCall::number);
  return found == std::end(kGuarded) ? nullptr : found;
}

constexpr unsigned kNewNamespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
                                    CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
constexpr unsigned kNewTime = 0x80;  // for unshare; in clone this bit is part of a signal number
constexpr unsigned kToWrite = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
constexpr unsigned kTtyPushInput = TIOCSTI, kTtyLinux = 0x541C;
constexpr unsigned kX32 = 0x40000000;
constexpr unsigned kWaitKillable = 1u << 5;  // SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV

#ifdef __x86_64__
constexpr unsigned kMachine = AUDIT_ARCH_X86_64;
#else
constexpr unsigned kMachine = AUDIT_ARCH_AARCH64;
#endif

// Assembles BPF instructions.
class Program {
 public:
  void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset)); }
  // Loads the low 32 bits of an argument. The kernel ignores the rest for these syscalls.
  void argument(unsigned index) { load(offsetof(seccomp_data, args) + 8 * std::size_t{index}); }
  void answer(unsigned action) { add(BPF_RET | BPF_K, action); }
  void if_equal(unsigned value, unsigned action) {
    when_equal(value, [&] { answer(action); });
  }
  void if_any_bit(unsigned bits, unsigned action) {
    when_any_bit(bits, [&] { answer(action); });
  }
  void unless_equal(unsigned value, unsigned action) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
    answer(action);
  }
  void if_at_least(unsigned value, unsigned action) {
    add(BPF_JMP | BPF_JGE | BPF_K, value, 0, 1);
    answer(action);
  }
  void and_with(unsigned mask) { add(BPF_ALU | BPF_AND | BPF_K, mask); }
  // REQUIRES: `body` adds at most 255 instructions, the range of a conditional jump.
  template <class Body>
  void when_equal(unsigned value, Body body) {
    when(BPF_JEQ, value, body);
  }
  template <class Body>
  void when_any_bit(unsigned bits, Body body) {
    when(BPF_JSET, bits, body);
  }
  // The same without a limit on `body`.
  template <class Body>
  void unless_at_least(unsigned value, Body body) {
    add(BPF_JMP | BPF_JGE | BPF_K, value, 0, 1);
    add(BPF_JMP | BPF_JA, 0);
    const std::size_t jump = code_.size() - 1;
    body();
    code_[jump].k = static_cast<unsigned>(code_.size() - jump - 1);
  }
  void append(const Program& more) {
    code_.insert(code_.end(), more.code_.begin(), more.code_.end());
  }
  std::vector<sock_filter> code() && { return std::move(code_); }

 private:
  template <class Body>
  void when(int test, unsigned value, Body body) {
    add(BPF_JMP | test | BPF_K, value);
    const std::size_t at = code_.size() - 1;
    body();
    code_[at].jf = static_cast<std::uint8_t>(code_.size() - at - 1);
  }
  void add(int code, unsigned k, int jump_true = 0, int jump_false = 0) {
    code_.push_back({static_cast<std::uint16_t>(code), static_cast<std::uint8_t>(jump_true),
                     static_cast<std::uint8_t>(jump_false), k});
  }
  std::vector<sock_filter> code_;
};

// The actions for all syscalls that are not simply allowed.
//
// When a filter is installed, the kernel simulates it for every syscall number to find those that
// are always allowed. With a linear list that took most of the installation time. So the numbers
// are sorted and tested in groups.
class Answers {
 public:
  // Adds an action for a syscall. If several apply, the first one added wins; the default is to
  // allow.
  void put(long number, unsigned action) { of_[static_cast<unsigned>(number)].answer(action); }
  template <class Body>
  void put(long number, Body body) {
    body(of_[static_cast<unsigned>(number)]);
  }

  // Appends to a program that has loaded the syscall number.
  void write(Program& program) const {
    for (auto next = of_.begin(); next != of_.end();) {
      const auto first = next;
      std::size_t count = 0;
      while (next != of_.end() && count++ < kTogether) ++next;
      program.unless_at_least(std::prev(next)->first + 1, [&] {
        for (auto each = first; each != next; ++each)
          program.when_equal(each->first, [&] {
            program.append(each->second);
            program.answer(SECCOMP_RET_ALLOW);
          });
        program.answer(SECCOMP_RET_ALLOW);
      });
    }
    program.answer(SECCOMP_RET_ALLOW);
  }

 private:
  // Group size; about the square root of the number of syscalls.
  static constexpr std::size_t kTogether = 8;
  std::map<unsigned, Program> of_;
};

constexpr unsigned kNoSuchCall = SECCOMP_RET_ERRNO | ENOSYS;

// Allows local sockets and, with a network, the internet families. Only stream and seqpacket local
// sockets are allowed, because they must connect, and the supervisor checks connect. A datagram
// socket (SOCK_RAW is one too) can send to any path without connecting. Without a supervisor to
// ask, local sockets are denied.
void filter_sockets(Answers& answers, const Spec& spec, unsigned deny, Asking asking) {
  const bool inet = spec.network != Network::none;
  const auto if_local = [&](Program& program) {
    program.when_equal(AF_UNIX, [&] {
      program.argument(1);
      program.and_with(0xf);
      program.if_equal(SOCK_STREAM, SECCOMP_RET_ALLOW);
      program.if_equal(SOCK_SEQPACKET, SECCOMP_RET_ALLOW);
      program.answer(deny);
    });
  };
  answers.put(SYS_socket, [&](Program& program) {
    program.argument(0);
    if (asking == Asking::on) if_local(program);
    if (inet)
      for (const unsigned family : {AF_INET, AF_INET6, AF_NETLINK})
        program.if_equal(family, SECCOMP_RET_ALLOW);
    program.answer(deny);
  });
  answers.put(SYS_socketpair, [&](Program& program) {
    program.argument(0);
    if_local(program);
    program.answer(deny);
  });
  if (asking == Asking::off) return;
  answers.put(SYS_connect, SECCOMP_RET_USER_NOTIF);
  if (spec.network != Network::loopback) return;
  answers.put(SYS_sendto, [](Program& program) {  // only with an address, a non-null argument 4
    program.argument(4);
    program.when_equal(0, [&] {
      program.load(offsetof(seccomp_data, args) + 8 * 4 + 4);
      program.if_equal(0, SECCOMP_RET_ALLOW);
    });
    program.answer(SECCOMP_RET_USER_NOTIF);
  });
}

// Denies setuid and setgid modes. Under root the command's files may belong to root on disk, so
// such a program would run as root.
void filter_modes(Answers& answers, unsigned deny) {
  for (const ModeCall& call : kModes)
    answers.put(call.number, [&](Program& program) {
      const auto judge = [&] {
        program.argument(static_cast<unsigned>(call.mode_at));
        program.if_any_bit(kSetId, deny);
      };
      if (call.flags_at < 0) return judge();
      program.argument(static_cast<unsigned>(call.flags_at));
      program.when_any_bit(kMakesFile, judge);
    });
}

// Syscalls that read or execute a file by its path. A filter cannot read the path itself, because
// it is behind a pointer.
constexpr long kReads[] = {
#ifdef __x86_64__
    SYS_open,   SYS_readlink,
#endif
    SYS_openat, SYS_readlinkat, SYS_execve, SYS_execveat,
};
void watch_files(Answers& answers) {
  for (const long call : kReads) answers.put(call, SECCOMP_RET_USER_NOTIF);
}

enum class Watched { guarded_folders, everything };

void watch_writes(Answers& answers, Watched what) {
  for (const WriteCall& call : kWrites) {
    if (what == Watched::guarded_folders && guarded_call(call.number) == nullptr) continue;
    if (call.flags_at < 0)
      answers.put(call.number, SECCOMP_RET_USER_NOTIF);
    else
      answers.put(call.number, [&](Program& program) {
        program.argument(static_cast<unsigned>(call.flags_at));
        program.if_any_bit(kToWrite, SECCOMP_RET_USER_NOTIF);
      });
  }
}

}  // namespace

std::vector<sock_filter> filter_of(const Spec& spec, Asking asking) {
  const unsigned deny = asking == Asking::on ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ERRNO | EPERM;
  Answers answers;
  for (const Call& call : kDenied) answers.put(call.number, deny);
  // A filter cannot check these: their arguments are behind pointers, or io_uring bypasses seccomp.
  // ENOSYS makes programs fall back to older syscalls.
  for (const long call :
       {SYS_clone3, SYS_openat2, SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register})
    answers.put(call, kNoSuchCall);
  answers.put(SYS_clone, [&](Program& program) {
    program.argument(0);
    program.if_any_bit(kNewNamespaces, deny);
  });
  answers.put(SYS_unshare, [&](Program& program) {
    program.argument(0);
    program.if_any_bit(kNewNamespaces | kNewTime, deny);
  });
  answers.put(SYS_ioctl, [&](Program& program) {
    program.argument(1);
    program.if_equal(kTtyPushInput, deny);
    program.if_equal(kTtyLinux, deny);
  });
  filter_sockets(answers, spec, deny, asking);
  filter_modes(answers, deny);
  const bool holds = !spec.held_paths.empty();
  if (asking == Asking::on && (spec.watch_writes || holds))
    watch_writes(answers, Watched::everything);
  else if (asking == Asking::on && guards(spec))
    watch_writes(answers, Watched::guarded_folders);
  if (asking == Asking::on && holds) watch_files(answers);
  Program program;
  program.load(offsetof(seccomp_data, arch));
  program.unless_equal(kMachine, SECCOMP_RET_KILL_PROCESS);
  program.load(offsetof(seccomp_data, nr));
  program.if_at_least(kX32, kNoSuchCall);
  answers.write(program);
  return std::move(program).code();
}

int install_filter(const Spec& spec, Asking asking) {
  std::vector<sock_filter> filter = filter_of(spec, asking);
  sock_fprog code{static_cast<unsigned short>(filter.size()), filter.data()};
  const auto install = [&](unsigned flags) {
    return static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &code));
  };
  if (asking == Asking::off) return install(0);
  const int listener = install(SECCOMP_FILTER_FLAG_NEW_LISTENER | kWaitKillable);
  if (listener >= 0 || errno != EINVAL) return listener;
  return install(SECCOMP_FILTER_FLAG_NEW_LISTENER);  // Linux before 5.19 lacks kWaitKillable
}

std::string call_name(int number) {
  for (const auto& list : {std::span<const Call>(kDenied), std::span<const Call>(kPartlyDenied)})
    for (const Call& call : list)
      if (call.number == number) return call.name;
  for (const ModeCall& call : kModes)
    if (call.number == number) return call.name;
  return "call " + std::to_string(number);
}

unsigned stopped_mode(const seccomp_data& asked) {
  const auto* const call = std::ranges::find(kModes, asked.nr, &ModeCall::number);
  if (call == std::end(kModes)) return 0;
  if (call->flags_at >= 0 && (asked.args[call->flags_at] & kMakesFile) == 0) return 0;
  const auto mode = static_cast<unsigned>(asked.args[call->mode_at]);
  return (mode & kSetId) != 0 ? mode & kModeBits : 0;
}

bool opens_to_write(std::uint64_t flags) { return (flags & kToWrite) != 0; }

bool is_about_files(int number) {
  return std::ranges::find(kReads, long{number}) != std::end(kReads) || write_call(number);
}

const WriteCall* write_call(int number) {
  const auto* const found = std::ranges::find(kWrites, number, &WriteCall::number);
  return found == std::end(kWrites) ? nullptr : found;
}

std::optional<WriteAsked::What> what_of(const seccomp_data& asked) {
  const GuardedCall* call = guarded_call(asked.nr);
  if (call == nullptr) return std::nullopt;
  const bool folder = call->what == WriteAsked::What::unlink && write_flags(asked) == AT_REMOVEDIR;
  return folder ? WriteAsked::What::rmdir : call->what;
}

int write_flags(const seccomp_data& asked) {
  const GuardedCall* call = guarded_call(asked.nr);
  if (call == nullptr) return 0;
  return call->flags_at < 0 ? call->flags : static_cast<int>(asked.args[call->flags_at]);
}

unsigned write_mode(const seccomp_data& asked) {
  const GuardedCall* call = guarded_call(asked.nr);
  if (call == nullptr || call->mode_at < 0) return 0;
  return static_cast<unsigned>(asked.args[call->mode_at]);
}

}  // namespace agentrt::launcher
