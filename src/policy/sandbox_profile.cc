#include "policy/sandbox_profile.h"

#include <algorithm>
#include <string_view>

namespace agentrt::policy {
namespace {

// Paths below a home that hold credentials. They are hidden, not only read-only.
constexpr std::string_view kSecretsOfHome[] = {".ssh",
                                               ".gnupg",
                                               ".aws",
                                               ".azure",
                                               ".kube",
                                               ".docker",
                                               ".netrc",
                                               ".npmrc",
                                               ".pypirc",
                                               ".pgpass",
                                               ".git-credentials",
                                               ".config/gcloud",
                                               ".config/gh",
                                               ".config/hub",
                                               ".config/git/credentials",
                                               ".password-store",
                                               ".local/share/keyrings",
                                               ".cargo/credentials",
                                               ".cargo/credentials.toml",
                                               ".terraform.d",
                                               ".vault-token",
                                               ".m2/settings.xml",
                                               ".gem/credentials",
                                               ".bash_history",
                                               ".zsh_history",
                                               ".mozilla",
                                               ".config/google-chrome",
                                               ".config/chromium",
                                               ".claude"};

// Sockets of the machine that give access to everyone who can see them.
constexpr std::string_view kDoors[] = {
    "/run/user", "/run/docker.sock",     "/run/containerd",   "/run/podman",
    "/run/dbus", "/run/systemd/private", "/run/snapd.socket", "/run/credentials"};

// Paths that programs outside the sandbox obey later: git on the host, or this runtime. Parts of a
// git folder stay writable for ordinary work (policy/git_folders.h).
constexpr std::string_view kRunLater[] = {".git/", ".agentrt/", ".claude/"};

constexpr std::string_view kKept[] = {
    "PATH",       "HOME",     "LANG",        "LANGUAGE",    "TERM",       "TZ",
    "USER",       "LOGNAME",  "SHELL",       "COLORTERM",   "NO_COLOR",   "LC_ALL",
    "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC", "LC_TIME"};

bool lies_below(std::string_view path, std::string_view root) {
  return path.size() > root.size() + 1 && path.starts_with(root) && path[root.size()] == '/';
}

bool is_kept(std::string_view name) { return std::ranges::find(kKept, name) != std::end(kKept); }

}  // namespace

std::span<const std::string_view> environment_kept() { return kKept; }

schema::SandboxProfile sandbox_profile(const SandboxInputs& inputs) {
  schema::SandboxProfile profile;
  profile.mode = inputs.mode;
  profile.network = inputs.network;
  profile.cwd = inputs.cwd;
  profile.roots = inputs.roots;
  for (const std::string& root : inputs.roots)
    for (const std::string_view path : kRunLater)
      profile.protected_paths.push_back(root + "/" + std::string(path));
  profile.hidden_paths = inputs.own_paths;
  // A hidden path must not be created either, if it does not exist yet and is below a root: it
  // could be a configuration of the runtime, a hook of the user, or an SSH key that grants access.
  std::vector<std::string> never_made = inputs.own_paths;
  if (!inputs.home.empty())
    for (const char* folder : {"/.ssh", "/.claude"}) never_made.push_back(inputs.home + folder);
  for (const std::string& path : never_made)
    for (const std::string& root : inputs.roots)
      if (lies_below(path, root)) profile.protected_paths.push_back(path + "/");
  if (!inputs.home.empty())
    for (const std::string_view path : kSecretsOfHome)
      profile.hidden_paths.push_back(inputs.home + "/" + std::string(path));
  for (const std::string_view path : kDoors) profile.hidden_paths.emplace_back(path);
  profile.hidden_paths.insert(profile.hidden_paths.end(), inputs.denied.begin(),
                              inputs.denied.end());
  for (const auto& [name, value] : inputs.added) profile.environment.push_back(name + "=" + value);
  for (const auto& [name, value] : inputs.environment)
    if (is_kept(name) && !inputs.added.contains(name))
      profile.environment.push_back(name + "=" + value);
  return profile;
}

}  // namespace agentrt::policy
