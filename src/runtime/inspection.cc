#include "runtime/inspection.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "base/digest.h"

namespace agentrt::runtime {
namespace {

std::string digest_text(const Digest& digest) { return "sha256:" + hex(bytes_of(digest)); }

// The digest of what a shell would read at the path; nothing where it cannot be told.
std::optional<std::string> digest_of_file(const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  Sha256 hash;
  std::size_t total = 0;
  std::array<char, 64 * 1024> bytes{};
  while (true) {
    const ssize_t count = ::read(file.get(), bytes.data(), bytes.size());
    if (count < 0) return std::nullopt;
    if (count == 0) return digest_text(hash.end());
    total += static_cast<std::size_t>(count);
    if (total > kExecutedFileBytesMax) return std::nullopt;
    hash.add({bytes.data(), static_cast<std::size_t>(count)});
  }
}

std::string name_of_variable(const std::string& variable) {
  return variable.substr(0, variable.find('='));
}

}  // namespace

Result<schema::Binding> DiskInspector::inspect(const ports::ProcessRequest& request,
                                               const std::vector<std::string>& executes) {
  TRY_ASSIGN(schema::SandboxProfile profile, profile_(request));
  schema::Binding binding;
  binding.cwd = profile.cwd;
  struct stat folder{};
  if (::stat(profile.cwd.c_str(), &folder) != 0)
    return fail(Code::invalid_params, fmt::format("cwd: {} cannot be looked at", profile.cwd));
  binding.cwd_identity = fmt::format("{}:{}", folder.st_dev, folder.st_ino);
  std::ranges::sort(profile.environment);
  std::ranges::transform(profile.environment, std::back_inserter(binding.environment_names),
                         name_of_variable);
  binding.environment_digest = digest_text(sha256(schema::to_json(profile.environment)));
  profile.environment.clear();
  binding.profile_digest = digest_text(sha256(schema::to_json(profile)));
  for (const std::string& path : executes) {
    const std::string whole = path.starts_with('/') ? path : profile.cwd + "/" + path;
    binding.files.push_back({path, digest_of_file(whole)});
  }
  return binding;
}

}  // namespace agentrt::runtime
