#include "launcher/notify.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "launcher/filter.h"
#include "launcher/mounts.h"
#include "launcher/questions/asker.h"
#include "launcher/questions/errands.h"
#include "launcher/questions/folder_modes.h"

namespace agentrt::launcher {
namespace {

constexpr std::size_t kPathMax = 4'096;
constexpr unsigned kPidfdThread = O_EXCL;  // PIDFD_THREAD, Linux 6.9

struct Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;

  sockaddr* any() { return reinterpret_cast<sockaddr*>(&bytes); }
  int family() const { return bytes.ss_family; }
};

std::string text_of(const Address& address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.family() == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(address.bytes);
    ::inet_ntop(AF_INET, &in.sin_addr, text, sizeof(text));
    return std::string(text) + ":" + std::to_string(ntohs(in.sin_port));
  }
  if (address.family() == AF_INET6) {
    const auto& in = reinterpret_cast<const sockaddr_in6&>(address.bytes);
    ::inet_ntop(AF_INET6, &in.sin6_addr, text, sizeof(text));
    return "[" + std::string(text) + "]:" + std::to_string(ntohs(in.sin6_port));
  }
  if (address.family() == AF_UNIX && address.size > offsetof(sockaddr_un, sun_path)) {
    const auto& local = reinterpret_cast<const sockaddr_un&>(address.bytes);
    const std::size_t size = address.size - offsetof(sockaddr_un, sun_path);
    if (local.sun_path[0] == '\0') return "unix:@" + std::string(local.sun_path + 1, size - 1);
    return "unix:" + std::string(local.sun_path, ::strnlen(local.sun_path, size));
  }
  return "family " + std::to_string(address.family());
}

// True also for 0.0.0.0 and ::, which the kernel treats as loopback.
bool is_loopback(const Address& address) {
  const auto is_own = [](std::uint32_t ip) { return ip >> 24 == 127 || ip == INADDR_ANY; };
  if (address.family() == AF_INET)
    return is_own(ntohl(reinterpret_cast<const sockaddr_in&>(address.bytes).sin_addr.s_addr));
  const in6_addr& ip = reinterpret_cast<const sockaddr_in6&>(address.bytes).sin6_addr;
  if (!IN6_IS_ADDR_V4MAPPED(&ip)) return IN6_IS_ADDR_LOOPBACK(&ip) || IN6_IS_ADDR_UNSPECIFIED(&ip);
  std::uint32_t mapped = 0;
  std::memcpy(&mapped, &ip.s6_addr[12], sizeof(mapped));
  return is_own(ntohl(mapped));
}

// A connect on the supervisor's copies of socket and address. It may block until the peer answers.
struct Connecting final : Errand {
  seccomp_notif_resp reply{};
  Fd own_listener, socket, target;
  Address address;
  bool as_command = false;  // under root: connect with the command's uid

  // Changes the user of this thread only. The C library's functions would change all threads.
  bool step_down() const {
    return !as_command || (::syscall(SYS_setgroups, 0, nullptr) == 0 &&
                           ::syscall(SYS_setresgid, kOuterId, kOuterId, kOuterId) == 0 &&
                           ::syscall(SYS_setresuid, kOuterId, kOuterId, kOuterId) == 0);
  }
  void run() override {
    reply.error = -EPERM;
    if (step_down())
      reply.error = ::connect(socket.get(), address.any(), address.size) == 0 ? 0 : -errno;
    socket.reset();
    ::ioctl(own_listener.get(), SECCOMP_IOCTL_NOTIF_SEND, &reply);
  }
};

class Question {
 public:
  Question(const Spec& spec, const std::vector<Guarded>& guarded, HeldFiles& held)
      : spec_(spec), guarded_(guarded), held_(held) {}

  std::optional<Violation> answer(int listener) {
    if (!asker_.hear(listener)) return std::nullopt;
    reply_.id = asker_.id();
    reply_.error = -EPERM;
    std::optional<Violation> found;
    const int call = asker_.call();
    if (call == SYS_connect)
      found = connect();
    else if (call == SYS_sendto)
      found = send_to();
    else if (const unsigned mode = stopped_mode(asker_.data()))
      found = set_id(mode);
    else if (held_.any() && is_about_files(call))
      found = about_held();
    else if (const WriteCall* write = write_call(call))
      found = write_somewhere(*write);
    else
      found = denied();
    if (!handed_over_) ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply_);
    return found;
  }

 private:
  bool still_asks() const { return asker_.still_asks(); }
  std::uint64_t argument(int i) const { return asker_.argument(i); }
  void let_through() {
    reply_.error = 0;
    reply_.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  }

  // False: the address cannot be read.
  bool read_address(int pointer_at, Address& address) {
    const std::uint64_t size = argument(pointer_at + 1) & 0xffffffff;
    if (size > sizeof(address.bytes)) return false;
    address.size = static_cast<socklen_t>(size);
    return asker_.read_memory(argument(pointer_at), &address.bytes, address.size) ==
           static_cast<ssize_t>(address.size);
  }

  std::optional<Violation> connect() {
    Address address;
    if (!read_address(1, address)) {
      reply_.error = -EFAULT;
      return std::nullopt;
    }
    const std::string text = text_of(address);
    const int error = connect_for(address);
    reply_.error = -error;
    if (error != EACCES) return std::nullopt;
    return Violation{"network", "connect " + text, "notify"};
  }

  // Returns the errno for the command; EACCES: not allowed; 0: an errand will answer.
  int connect_for(const Address& address) {
    std::unique_ptr<Connecting> errand(new (std::nothrow) Connecting);
    if (!errand) return ENOMEM;
    errand->address = address;
    errand->socket = socket_of_asker();
    if (!errand->socket) return errno;
    if (address.family() == AF_INET || address.family() == AF_INET6) {
      if (spec_.network == Network::none) return EACCES;
      if (spec_.network == Network::loopback && !is_loopback(address)) return EACCES;
    } else if (address.family() == AF_UNIX) {
      if (const int error = local_target(errand->address, errand->target)) return error;
    } else if (address.family() != AF_UNSPEC) {
      return EACCES;
    }
    // What was read belongs to the asking process only if it is still waiting.
    if (!still_asks()) return ESRCH;
    errand->own_listener = Fd(::fcntl(asker_.listener(), F_DUPFD_CLOEXEC, 0));
    errand->reply.id = asker_.id();
    errand->as_command = (spec_.wanted & bit(Layer::identity)) != 0;
    if (!send_off(std::move(errand))) return EAGAIN;
    handed_over_ = true;
    return 0;
  }

  // The asker may be one of several threads. Kernels before 6.9 have no pidfd for a thread, so use
  // its process.
  Fd socket_of_asker() {
    Fd process(static_cast<int>(::syscall(SYS_pidfd_open, asker_.pid(), kPidfdThread)));
    if (!process) process = Fd(static_cast<int>(::syscall(SYS_pidfd_open, group_of_asker(), 0)));
    return Fd(static_cast<int>(
        ::syscall(SYS_pidfd_getfd, process.get(), static_cast<int>(argument(0)), 0)));
  }
  pid_t group_of_asker() {
    int group = -1;
    each_line_of_status([&](const char* line) { (void)std::sscanf(line, "Tgid: %d", &group); });
    return group;
  }
  template <class Visit>
  void each_line_of_status(Visit visit) {
    const std::unique_ptr<FILE, int (*)(FILE*)> file(
        std::fopen(asker_.place("status").c_str(), "re"), std::fclose);
    char line[256];
    while (file && std::fgets(line, sizeof(line), file.get()) != nullptr) visit(line);
  }

  // Allows a local socket if it is on a writable mount, or if its name is abstract and the command
  // has its own network namespace. The path is resolved once, inside the command's root, and the
  // connect uses the result.
  int local_target(Address& address, Fd& target) {
    auto& local = reinterpret_cast<sockaddr_un&>(address.bytes);
    constexpr std::size_t kHead = offsetof(sockaddr_un, sun_path);
    if (address.size <= kHead) return EINVAL;
    if (local.sun_path[0] == '\0') return spec_.wanted & bit(Layer::network_namespace) ? 0 : EACCES;
    std::string path(local.sun_path, ::strnlen(local.sun_path, address.size - kHead));
    if (path[0] != '/') path = asker_.folder_of(AT_FDCWD) + path;
    const Fd root(::open(asker_.place("root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    open_how how{};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_NO_MAGICLINKS | RESOLVE_IN_ROOT;
    target =
        Fd(static_cast<int>(::syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof(how))));
    if (!target) return errno == EXDEV ? EACCES : errno;
    struct statvfs place{};
    if (::fstatvfs(target.get(), &place) != 0 || (place.f_flag & ST_RDONLY) != 0) return EACCES;
    const std::string held = "/proc/self/fd/" + std::to_string(target.get());
    std::memcpy(local.sun_path, held.c_str(), held.size() + 1);
    address.size = static_cast<socklen_t>(kHead + held.size() + 1);
    return 0;
  }

  // Lets the datagram continue; the private network has no other hosts. Reports an address outside
  // it.
  std::optional<Violation> send_to() {
    let_through();
    Address address;
    if (!read_address(4, address) || !still_asks()) return std::nullopt;
    const bool inet = address.family() == AF_INET || address.family() == AF_INET6;
    if (!inet || is_loopback(address)) return std::nullopt;
    return Violation{"network", "send to " + text_of(address), "networkNamespace"};
  }

  std::optional<Violation> denied() {
    const int call = asker_.call();
    const bool network = call == SYS_socket || call == SYS_socketpair;
    std::string what = call_name(call);
    if (network)
      what += " of family " + std::to_string(static_cast<int>(argument(0))) + ", type " +
              std::to_string(static_cast<int>(argument(1)) & 0xf);
    if (!still_asks()) return std::nullopt;
    return Violation{network ? "network" : "process", what, "seccomp"};
  }

  // A mode with the setuid or the setgid bit: only for folders, and only setgid.
  std::optional<Violation> set_id(unsigned mode) {
    char text[8];
    std::snprintf(text, sizeof(text), "%04o", mode);
    const std::string what = call_name(asker_.call()) + " with mode " + text;
    const auto error = set_folder_mode(asker_, (spec_.wanted & bit(Layer::identity)) != 0);
    if (error) reply_.error = -*error;
    if (error && *error != EROFS) return std::nullopt;
    if (!still_asks()) return std::nullopt;
    return Violation{"filesystem", what, error ? "mountNamespace" : "seccomp"};
  }

  // Asks HeldFiles first. If the call is not about a held file, it is handled as any other write.
  std::optional<Violation> about_held() {
    let_through();
    switch (held_.answer(asker_, reply_)) {
      case HeldFiles::Answered::not_ours: {
        const WriteCall* write = write_call(asker_.call());
        if (write && writes(*write)) return write_somewhere(*write);
        return std::nullopt;
      }
      case HeldFiles::Answered::reply:
        return std::nullopt;
      case HeldFiles::Answered::sent:
        handed_over_ = true;
        return std::nullopt;
    }
    return std::nullopt;
  }
  bool writes(const WriteCall& call) const {
    return call.flags_at < 0 || opens_to_write(argument(call.flags_at));
  }

  std::optional<Violation> write_somewhere(const WriteCall& call) {
    let_through();
    std::string paths[2];
    for (std::size_t i = 0; i < std::size(paths); ++i)
      if (call.paths[i].path_at >= 0) paths[i] = path_argument(call.paths[i]);
    if (const auto what = what_of(asker_.data());
        what && (is_guarded(paths[0]) || is_guarded(paths[1]))) {
      auto [found, answered] = write_for_command(call, *what, paths);
      if (answered) return found;
    }
    return spec_.watch_writes ? write_elsewhere(call, paths) : std::nullopt;
  }

  std::optional<Violation> write_elsewhere(const WriteCall& call, std::span<std::string> paths) {
    if (!still_asks()) return std::nullopt;
    for (const std::string& path : paths)
      if (!path.empty() && !may_write(path))
        return Violation{"filesystem", std::string(call.name) + " " + path, "mountNamespace", true};
    return std::nullopt;
  }

  // The argument as an absolute path without `.` and `..`. Empty: it cannot be read or resolved.
  std::string path_argument(const WriteCall::Path& at) {
    std::string path = asker_.path(at.path_at);
    if (path.empty() || path.size() >= kPathMax) return "";
    if (path[0] != '/')
      path =
          asker_.folder_of(at.folder_at < 0 ? AT_FDCWD : static_cast<int>(argument(at.folder_at))) +
          path;
    const std::string plain = asker_.whole_path(path, -1);
    // Behind a symlink the kernel resolves `..` differently from the text. So compare both results.
    if (path.find("/..") == path.npos || guarded_.empty()) return plain;
    return folder_is(path, plain.substr(0, std::max<std::size_t>(plain.rfind('/'), 1))) ? plain
                                                                                        : "";
  }

  // Whether the folder of `path` resolves to `expected`.
  bool folder_is(const std::string& path, const std::string& expected) {
    std::string_view name = path;
    while (name.ends_with('/')) name.remove_suffix(1);
    const std::string folder(name.substr(0, name.rfind('/') + 1));
    const Fd root(::open(asker_.place("root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    open_how how{};
    how.flags = O_PATH | O_CLOEXEC | O_DIRECTORY;
    how.resolve = RESOLVE_NO_MAGICLINKS | RESOLVE_IN_ROOT;
    const Fd found(
        static_cast<int>(::syscall(SYS_openat2, root.get(), folder.c_str(), &how, sizeof(how))));
    return found && link_target("/proc/self/fd/" + std::to_string(found.get())) == expected;
  }

  struct Answered {
    std::optional<Violation> violation;
    bool answered = false;
  };

  // Performs a write in a guarded folder, on the supervisor's copy of the path.
  Answered write_for_command(const WriteCall& call, WriteAsked::What what,
                             std::string (&paths)[2]) {
    WriteAsked asked{.what = what, .path = paths[0], .to = paths[1]};
    asked.flags = write_flags(asker_.data());
    asked.mode = write_mode(asker_.data());
    asked.as_command = (spec_.wanted & bit(Layer::identity)) != 0;
    asked.mask = mask_of_asker();
    if (!still_asks()) return {std::nullopt, true};
    WriteDone done = write_guarded(guarded_, spec_.written, asked);
    if (done.how == WriteDone::How::elsewhere) return {};
    reply_.flags = 0;
    reply_.error = -done.error;
    if (done.opened) give(done.opened.get(), asked.flags);
    if (done.how != WriteDone::How::refused) return {std::nullopt, true};
    return {Violation{"filesystem", std::string(call.name) + " " + asked.path, "mountNamespace"},
            true};
  }

  bool is_guarded(const std::string& path) const {
    return std::ranges::any_of(guarded_,
                               [&](const Guarded& folder) { return is_under(path, folder.path); });
  }

  // Installs a descriptor in the process and makes its syscall return it.
  void give(int opened, int flags) {
    seccomp_notif_addfd add{};
    add.id = asker_.id();
    add.flags = SECCOMP_ADDFD_FLAG_SEND;
    add.srcfd = static_cast<unsigned>(opened);
    add.newfd_flags = (flags & O_CLOEXEC) != 0 ? O_CLOEXEC : 0;
    handed_over_ = ::ioctl(asker_.listener(), SECCOMP_IOCTL_NOTIF_ADDFD, &add) >= 0;
    if (!handed_over_) reply_.error = -errno;
  }

  unsigned mask_of_asker() {
    unsigned mask = 022;
    each_line_of_status([&](const char* line) { (void)std::sscanf(line, "Umask: %o", &mask); });
    return mask & 0777;
  }

  bool may_write(const std::string& path) const {
    if (spec_.mode == Mode::full_access) return true;
    for (const char* own : {"/tmp", "/dev", "/proc"})
      if (is_under(path, own)) return true;
    if (spec_.mode == Mode::read_only) return false;
    const auto holds = [&](std::string_view place) {
      while (place.ends_with('/')) place.remove_suffix(1);
      return is_under(path, place);
    };
    return std::ranges::any_of(spec_.roots, holds) && !std::ranges::any_of(spec_.protect, holds);
  }

  static std::string link_target(const std::string& link) {
    char target[kPathMax];
    const ssize_t size = ::readlink(link.c_str(), target, sizeof(target));
    return {target, size > 0 ? static_cast<std::size_t>(size) : 0};
  }

  const Spec& spec_;
  const std::vector<Guarded>& guarded_;
  HeldFiles& held_;
  Asker asker_;
  seccomp_notif_resp reply_{};
  bool handed_over_ = false;  // already answered, or an errand will answer
};

}  // namespace

std::optional<Violation> answer_question(int listener, const Spec& spec,
                                         const std::vector<Guarded>& guarded, HeldFiles& held) {
  return Question(spec, guarded, held).answer(listener);
}

}  // namespace agentrt::launcher
