#include "adapters/process/launch.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
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
  if (control_ >= 0) ::close(control_);
  if (pid_ > 0) wait();
}

Result<void> Launched::order(const std::string& text) const {
  if (::send(control_, text.data(), text.size(), MSG_NOSIGNAL) < 0)
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
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Result<Launched> launch(const launcher::Spec& spec) {
  TRY_ASSIGN(const int program, launcher_file());
  TRY_ASSIGN(const Descriptor text, file_of("agentrt-spec", launcher::encode(spec), kData));
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

}  // namespace agentrt::adapters
