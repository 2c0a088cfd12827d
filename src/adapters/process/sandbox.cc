#include "adapters/process/sandbox.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "adapters/process/cgroup.h"
#include "adapters/process/repositories.h"
#include "base/descriptor.h"
#include "base/real_path.h"
#include "policy/git_folders.h"

namespace agentrt::adapters {

using launcher::bit;
using launcher::Layer;
using launcher::Layers;

namespace {

launcher::Mode mode_of(schema::SandboxMode mode) {
  if (mode == schema::SandboxMode::read_only) return launcher::Mode::read_only;
  return mode == schema::SandboxMode::full_access ? launcher::Mode::full_access
                                                  : launcher::Mode::workspace_write;
}

// A command may use three quarters of the machine's memory, so that the runtime survives it.
constexpr std::uint64_t kMemoryParts = 4, kMemoryPartsForCommand = 3;

std::uint64_t memory_of_machine() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0
             ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes)
             : 0;
}

bool runs_as_another(const schema::SandboxProfile& profile) {
  return ::geteuid() == 0 && profile.mode != schema::SandboxMode::full_access;
}

constexpr const char* kAllowNamespaces =
    "allow unprivileged user namespaces: sysctl user.max_user_namespaces, "
    "kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0; in a "
    "container, allow the syscalls clone and mount";

constexpr LayerRule kRules[] = {
    {Layer::user_namespace, "commands cannot run", kAllowNamespaces},
    {Layer::mount_namespace, "commands cannot run", kAllowNamespaces},
    {Layer::pid_namespace, "commands cannot run", kAllowNamespaces},
    {Layer::network_namespace, "commands have no network, not even a loopback interface",
     "use a kernel with CONFIG_NET_NS"},
    {Layer::ipc_namespace, "commands share System V memory and the host name with the machine",
     "use a kernel with CONFIG_IPC_NS and CONFIG_UTS_NS"},
    {Layer::landlock, "writes, signals and abstract sockets are restricted by one layer less",
     "use Linux 6.12 or newer with the landlock security module enabled (lsm=landlock,...)"},
    {Layer::seccomp, "commands cannot run", "use a kernel with CONFIG_SECCOMP_FILTER"},
    {Layer::notify,
     "commands have no Unix sockets, git can only read, and blocked attempts are not reported",
     "use Linux 5.14 or newer, outside of other seccomp supervisors"},
    {Layer::capabilities, "commands cannot run", "report this as a bug; every kernel supports it"},
    {Layer::limits, "commands cannot run",
     "raise the resource limits of the process that starts agentrt (ulimit -a)"},
    {Layer::cgroup,
     "the memory of a command is not limited, and its processes only by resource limits",
     "give agentrt a cgroup of its own: systemd-run --user --scope -p Delegate=yes agentrt serve"},
    {Layer::identity, "under root, commands cannot run",
     "run agentrt as an ordinary user, or keep the workspace on a file system with idmapped "
     "mounts (ext4, xfs, btrfs)"},
};

}  // namespace

std::span<const LayerRule> layer_rules() { return kRules; }

bool applies(Layer layer, const schema::SandboxProfile& profile) {
  if (layer == Layer::identity) return runs_as_another(profile);
  if (layer == Layer::network_namespace) return profile.network == schema::CommandNetwork::none;
  return true;
}

Layers required_layers(const schema::SandboxProfile& profile) {
  Layers needed = bit(Layer::user_namespace) | bit(Layer::mount_namespace) |
                  bit(Layer::pid_namespace) | bit(Layer::seccomp) | bit(Layer::capabilities) |
                  bit(Layer::limits);
  if (runs_as_another(profile)) needed |= bit(Layer::identity);
  return needed;
}

namespace {

Descriptor opened(const std::string& path) {
  return Descriptor{::open(path.c_str(), O_PATH | O_CLOEXEC)};
}

bool is_missing(int error) { return error == ENOENT || error == ENOTDIR; }

bool is_within(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

std::string home_of(const schema::SandboxProfile& profile) {
  constexpr std::string_view kHome = "HOME=";
  for (const std::string& variable : profile.environment)
    if (variable.starts_with(kHome) && variable.size() > kHome.size() + 1)
      return real_path(variable.substr(kHome.size()));
  return "";
}

// The folders in the home directory that contain hidden paths, whether these exist or not. They are
// frozen so that a hidden path created while a command runs stays invisible. Folders that the
// command may write are not frozen.
std::vector<std::string> frozen_folders(const schema::SandboxProfile& profile) {
  std::vector<std::string> out;
  const std::string home = home_of(profile);
  struct stat found{};
  if (home.empty() || profile.mode == schema::SandboxMode::full_access ||
      ::stat(home.c_str(), &found) != 0 || !S_ISDIR(found.st_mode))
    return out;
  // A root daemon runs commands as another user, who cannot enter a home closed to others.
  if (runs_as_another(profile) && (found.st_mode & S_IXOTH) == 0) return out;
  const auto is_writable = [&](const std::string& folder) {
    return std::ranges::any_of(profile.roots,
                               [&](const std::string& root) { return is_within(folder, root); });
  };
  for (const std::string& path : profile.hidden_paths) {
    const std::string folder = path.substr(0, path.rfind('/'));
    if (!is_within(folder, home) || is_writable(folder) ||
        std::ranges::find(out, folder) != out.end())
      continue;
    if (::lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) out.push_back(folder);
  }
  return out;
}

void guard_repositories(const Repositories& found, launcher::Spec& spec) {
  for (const Repository& repository : found.folders)
    if (!repository.made_inside) spec.guarded.push_back(repository.folder);
  spec.protect.insert(spec.protect.end(), found.files.begin(), found.files.end());
  if (!spec.guarded.empty()) spec.written = policy::written_in_git_folders();
}

}  // namespace

Repositories repositories_of(const schema::SandboxProfile& profile) {
  if (profile.mode != schema::SandboxMode::workspace_write) return {};
  return find_repositories(profile.roots, profile.hidden_paths);
}

launcher::Spec spec_of(const schema::SandboxProfile& profile, std::vector<std::string> argv) {
  return spec_of(profile, std::move(argv), repositories_of(profile));
}

launcher::Spec spec_of(const schema::SandboxProfile& profile, std::vector<std::string> argv,
                       const Repositories& repositories) {
  launcher::Spec spec;
  spec.argv = std::move(argv);
  spec.env = profile.environment;
  if (runs_as_another(profile))  // not root's home
    for (std::string& variable : spec.env)
      if (variable.starts_with("HOME=")) variable = "HOME=/tmp";
  spec.cwd = profile.cwd;
  spec.mode = mode_of(profile.mode);
  spec.network = profile.network == schema::CommandNetwork::host ? launcher::Network::host
                                                                 : launcher::Network::loopback;
  spec.roots = profile.roots;
  spec.protect = profile.protected_paths;
  guard_repositories(repositories, spec);
  spec.frozen = frozen_folders(profile);
  // Most of these paths do not exist and need no hiding.
  for (const std::string& path : profile.hidden_paths)
    if (const Descriptor found = opened(path); found || !is_missing(errno))
      spec.hide.push_back(real_path(path, found));
  spec.processes = profile.process_limits.processes;
  spec.open_files = profile.process_limits.open_files;
  spec.tmp_bytes = profile.process_limits.tmp_bytes;
  spec.memory_bytes = memory_of_machine() / kMemoryParts * kMemoryPartsForCommand;
  spec.cgroups = writable_cgroups();
  spec.watch_writes = profile.report_writes;
  spec.required = required_layers(profile);
  return spec;
}

}  // namespace agentrt::adapters
