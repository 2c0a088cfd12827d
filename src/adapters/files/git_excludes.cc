#include "adapters/files/git_excludes.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <optional>

#include "adapters/files/open_file.h"
#include "policy/git_folders.h"

namespace agentrt::adapters {
namespace {

// The user may keep these files behind symlinks. A pipe or device is not read.
std::string text_of(const std::string& path, std::size_t bytes_max) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat found{};
  if (file.get() < 0 || ::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) return "";
  return read_at_most(file.get(), bytes_max);
}

class ConfigReading {
 public:
  explicit ConfigReading(const std::string& home) : home_(home) {}

  void read(const std::string& path) {
    if (++files_ > kGitConfigFilesMax) return;
    const std::string folder = std::filesystem::path(path).parent_path().string();
    for (const policy::GitSetting& setting :
         policy::git_settings(text_of(path, kGitConfigBytesMax))) {
      if (setting.key == "core.excludesfile") {
        excludes_ = expanded(setting.value);
      } else if (setting.key == "include.path") {
        const std::string included = expanded(setting.value);
        if (!included.empty()) read(included.starts_with('/') ? included : folder + "/" + included);
      }
    }
  }
  const std::optional<std::string>& excludes() const { return excludes_; }

 private:
  // ~/x is below the home folder. The home folders of other users (~other/x) are not looked up.
  std::string expanded(const std::string& value) const {
    if (value.starts_with("~/")) return home_ + value.substr(1);
    return value.starts_with('~') ? "" : value;
  }

  const std::string& home_;
  std::size_t files_ = 0;
  std::optional<std::string> excludes_;
};

}  // namespace

std::string git_excludes(const GitUser& user) {
  if (!user.home.starts_with('/')) return "";
  const std::string folder =
      (user.config_home.starts_with('/') ? user.config_home : user.home + "/.config") + "/git";
  ConfigReading config(user.home);
  config.read(folder + "/config");
  config.read(user.home + "/.gitconfig");
  const std::string path = config.excludes().value_or(folder + "/ignore");
  // Git looks up a relative path in the folder that it runs in, which is not known here.
  return path.starts_with('/') ? text_of(path, kGitExcludesBytesMax) : "";
}

}  // namespace agentrt::adapters
