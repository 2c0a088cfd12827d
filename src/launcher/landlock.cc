#include "launcher/landlock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace agentrt::launcher {
namespace {

// The kernel's values; the C library's header is older than current kernels.
constexpr std::uint64_t kExecute = 1 << 0, kWriteFile = 1 << 1, kReadFile = 1 << 2,
                        kReadDir = 1 << 3, kMakeChar = 1 << 6, kMakeBlock = 1 << 11,
                        kTruncate = 1 << 14, kIoctlDevice = 1 << 15;
constexpr std::uint64_t kRead = kExecute | kReadFile | kReadDir;
constexpr std::uint64_t kDevice = kWriteFile | kReadFile | kIoctlDevice;
constexpr std::uint64_t kOfFiles = kExecute | kWriteFile | kReadFile | kTruncate | kIoctlDevice;
constexpr std::uint64_t kTcp = 3;     // bind, connect
constexpr std::uint64_t kScopes = 3;  // abstract sockets, signals

struct Ruleset {
  std::uint64_t files = 0;
  std::uint64_t network = 0;
  std::uint64_t scoped = 0;
};
struct [[gnu::packed]] Beneath {
  std::uint64_t allowed;
  std::int32_t parent;
};

std::uint64_t rights_of(long abi) {
  if (abi >= 5) return 0xffff;
  if (abi >= 3) return 0x7fff;
  return abi >= 2 ? 0x3fff : 0x1fff;
}

std::size_t ruleset_size(long abi) {
  if (abi >= 6) return sizeof(Ruleset);
  return abi >= 4 ? sizeof(std::uint64_t) * 2 : sizeof(std::uint64_t);
}

}  // namespace

int restrict_with_landlock(const Spec& spec, int link) {
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1);
  if (abi < 1) return 0;
  const std::uint64_t all = rights_of(abi);
  const Ruleset wanted{.files = all,
                       .network = abi >= 4 && spec.network == Network::none ? kTcp : 0,
                       .scoped = abi >= 6 ? kScopes : 0};
  const Fd ruleset(
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &wanted, ruleset_size(abi), 0)));
  if (!ruleset) give_up(link, "landlock ruleset");
  const auto allow = [&](const std::string& path, std::uint64_t rights) {
    const Fd at(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (!at) return false;
    struct stat found{};
    if (::fstat(at.get(), &found) != 0) give_up(link, "landlock rule", path);
    if (!S_ISDIR(found.st_mode)) rights &= kOfFiles;
    const Beneath rule{rights & all, at.get()};
    if (::syscall(SYS_landlock_add_rule, ruleset.get(), 1, &rule, 0) != 0)
      give_up(link, "landlock rule", path);
    return true;
  };
  const std::uint64_t work = all & ~(kMakeChar | kMakeBlock);
  allow("/", spec.mode == Mode::full_access ? work : kRead);
  for (const std::string& root : spec.roots)
    if (!allow(root, spec.mode == Mode::read_only ? kRead : work))
      give_up(link, "landlock rule", root);
  if (spec.wanted & bit(Layer::mount_namespace)) {
    allow("/tmp", work);
    allow("/dev/shm", work);
  }
  for (const char* device : {"/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/pts",
                             "/dev/ptmx", "/dev/random", "/dev/urandom"})
    allow(device, kDevice);
  if (::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0)
    give_up(link, "landlock restrict");
  return static_cast<int>(abi);
}

}  // namespace agentrt::launcher
