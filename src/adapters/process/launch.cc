#include "adapters/process/launch.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "adapters/process/memory_file.h"
#include "adapters/process/origin.h"

// Embeds the launcher executable.
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

constexpr std::size_t kReportBytesMax = 64 * 1024;
constexpr int kLaunchTries = 2;  // with the current origin, then with a new one

std::unexpected<Error> failed(std::string_view what, Code code = Code::unavailable) {
  return fail(code, fmt::format("{}: {}.", what, std::generic_category().message(errno)));
}

// "Not found" is certain only if the search did not fail for lack of resources.
std::unexpected<Error> not_found(std::string_view what) {
  return failed(what, is_shortage(errno) ? Code::overloaded : Code::unavailable);
}

// Adds the owners of the roots, if the command runs in them as another user.
void name_owners(const launcher::Spec& spec, launcher::CopyOrder& order) {
  if (::geteuid() != 0 || !(spec.wanted & bit(launcher::Layer::identity))) return;
  for (const std::string& root : spec.roots) {
    struct stat found{};
    if (order.owners == launcher::kOwnersMax || ::stat(root.c_str(), &found) != 0) continue;
    order.owner[order.owners][0] = found.st_uid;
    order.owner[order.owners++][1] = found.st_gid;
  }
}

// One origin per process, for its whole lifetime.
Origin& origin() {
  static Origin kept(launcher_program());
  return kept;
}

Result<Launched> launch_once(const launcher::Spec& spec, const Streams& streams, int copies) {
  TRY_ASSIGN(const Descriptor text, file_in_memory("agentrt-spec", launcher::encode(spec)));
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return failed("A socket pair cannot be created");
  Descriptor ours(ends[0]);
  const Descriptor theirs(ends[1]);
  launcher::CopyOrder order;
  std::vector<int> given = {text.get(), theirs.get()};
  const int own[] = {streams.in, streams.out, streams.err};
  for (unsigned stream = 0; stream < 3; ++stream) {
    if (own[stream] < 0) continue;
    order.streams |= 1u << stream;
    given.push_back(own[stream]);
  }
  if (copies >= 0) {
    order.copies = 1;
    given.push_back(copies);
  }
  name_owners(spec, order);
  TRY_ASSIGN(const pid_t pid, origin().copy(order, given));
  return Launched(pid, ours.release());
}

}  // namespace

std::string_view launcher_program() {
  return {agentrt_launcher_begin,
          static_cast<std::size_t>(agentrt_launcher_end - agentrt_launcher_begin)};
}

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
    return failed("Sending to the launcher failed");
  return {};
}

Result<std::string> Launched::report() const {
  std::string text(kReportBytesMax, '\0');
  for (;;) {
    const ssize_t size = ::recv(control_, text.data(), text.size(), 0);
    // ECONNRESET: the launcher is gone and left an order unread. Reported once, before its last
    // reports.
    if (size < 0 && (errno == EINTR || errno == ECONNRESET)) continue;
    if (size < 0) return failed("Receiving from the launcher failed");
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

Result<Launched> launch(const launcher::Spec& spec, const Streams& streams, int copies) {
  for (int tried = 1; tried < kLaunchTries; ++tried)
    if (auto launched = launch_once(spec, streams, copies)) return launched;
  return launch_once(spec, streams, copies);
}

void get_ready_for_next() { origin().get_ready(); }

Result<Launched> attach(const std::string& run_folder) {
  const Descriptor folder(::open(run_folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return not_found("The run folder no longer exists");
  // Never waits: a launcher that is stopped takes no connection in.
  Descriptor made(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // Through /proc/self/fd: the path of the folder may be too long for sun_path.
  fmt::format_to_n(address.sun_path, sizeof(address.sun_path) - 1, "/proc/self/fd/{}/{}",
                   folder.get(), launcher::kControlName);
  if (!made ||
      ::connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return not_found("The launcher does not answer");
  ::fcntl(made.get(), F_SETFL, 0);
  return Launched(-1, made.release());
}

}  // namespace agentrt::adapters
