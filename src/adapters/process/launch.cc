#include "adapters/process/launch.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "base/descriptor.h"

// The launcher's bytes, as they were built.
asm(".section .rodata\n"
    ".balign 16\n"
    "agentrt_launcher_begin:\n"
    ".incbin \"" AGENTRT_LAUNCHER_FILE
    "\"\n"
    "agentrt_launcher_end:\n"
    ".byte 0\n"
    ".previous\n");
extern "C" {
extern const char agentrt_launcher_begin[];
extern const char agentrt_launcher_end[];
}

namespace agentrt::adapters {
namespace {

constexpr int kAboveFixed = 10;  // clear of the descriptors that the launcher is given
constexpr std::size_t kReportBytesMax = 64 * 1024;
constexpr unsigned kData = 0x8, kExecutable = 0x10;  // MFD_NOEXEC_SEAL, MFD_EXEC: Linux 6.3

std::unexpected<Error> failed(std::string_view what) {
  return fail(Code::unavailable,
              fmt::format("{}: {}.", what, std::generic_category().message(errno)));
}

// A file without a name that holds `bytes`, at its beginning.
Result<Descriptor> file_of(const char* name, std::string_view bytes, unsigned kind) {
  Descriptor made(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | kind));
  if (!made && errno == EINVAL)  // a kernel that does not know the kinds
    made = Descriptor(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  Descriptor file(made ? ::fcntl(made.get(), F_DUPFD_CLOEXEC, kAboveFixed) : -1);
  if (!file) return failed("No file can be made in memory");
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return failed("No file can be written in memory");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  ::lseek(file.get(), 0, SEEK_SET);
  // Nobody changes what is executed, or asked for, any more.
  ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  return file;
}

// Made once and kept for as long as the process lives.
Result<int> launcher_file() {
  static const Result<int> kFile = []() -> Result<int> {
    TRY_ASSIGN(Descriptor file,
               file_of("agentrt-launcher",
                       {agentrt_launcher_begin,
                        static_cast<std::size_t>(agentrt_launcher_end - agentrt_launcher_begin)},
                       kExecutable));
    return file.release();
  }();
  return kFile;
}

}  // namespace

Launched::~Launched() {
  close();
  wait();
}

void Launched::close() {
  if (control_ >= 0) ::close(std::exchange(control_, -1));
}

void Launched::leave() {
  close();
  pid_ = -1;
}

Descriptor Launched::end() const {
  return Descriptor(pid_ > 0 ? static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)) : -1);
}

Result<void> Launched::order(const std::string& text) const {
  if (::send(control_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
    return failed("The launcher does not listen");
  return {};
}

Result<std::string> Launched::report() const {
  std::string text(kReportBytesMax, '\0');
  for (;;) {
    const ssize_t size = ::recv(control_, text.data(), text.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno != ECONNRESET) return failed("The launcher cannot be heard");
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
  }
}

int Launched::wait() {
  if (pid_ <= 0) return 0;
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Result<Descriptor> file_in_memory(const char* name, std::string_view bytes) {
  return file_of(name, bytes, kData);
}

Result<Launched> launch(const launcher::Spec& spec, const Streams& streams) {
  TRY_ASSIGN(const int program, launcher_file());
  TRY_ASSIGN(const Descriptor text, file_in_memory("agentrt-spec", launcher::encode(spec)));
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return failed("No connection can be made");
  Descriptor ours(::fcntl(ends[0], F_DUPFD_CLOEXEC, kAboveFixed));
  const Descriptor theirs(::fcntl(ends[1], F_DUPFD_CLOEXEC, kAboveFixed));
  ::close(ends[0]);
  ::close(ends[1]);
  if (!ours || !theirs) return failed("No connection can be made");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, text.get(), launcher::kSpecFd);
  ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), launcher::kControlFd);
  const int own[] = {streams.in, streams.out, streams.err};
  for (int fd = 0; fd < 3; ++fd)
    if (own[fd] >= 0) ::posix_spawn_file_actions_adddup2(&actions, own[fd], fd);
  const std::string path = fmt::format("/proc/self/fd/{}", program);
  char name[] = "agentrt-launcher";
  char* argv[] = {name, nullptr};
  char* environment[] = {nullptr};
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, path.c_str(), &actions, nullptr, argv, environment);
  ::posix_spawn_file_actions_destroy(&actions);
  errno = error;
  if (error != 0) return failed("The launcher cannot be started");
  return Launched(pid, ours.release());
}

Result<Launched> attach(const std::string& run_folder) {
  const Descriptor folder(::open(run_folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return failed("The run folder is gone");
  // Never waits: a launcher that is stopped takes no connection in.
  Descriptor made(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // By way of a descriptor: the folder's own path may be too long for an address.
  fmt::format_to_n(address.sun_path, sizeof(address.sun_path) - 1, "/proc/self/fd/{}/{}",
                   folder.get(), launcher::kControlName);
  if (!made ||
      ::connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return failed("The launcher does not answer");
  ::fcntl(made.get(), F_SETFL, 0);
  return Launched(-1, made.release());
}

}  // namespace agentrt::adapters
