#include "runtime/inspection.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "adapters/process/memory_file.h"
#include "base/descriptor.h"
#include "base/digest.h"

namespace agentrt::runtime {
namespace {

std::string digest_text(const Digest& digest) { return "sha256:" + hex(bytes_of(digest)); }

// The contents that a shell would read at the path. nullopt: there is no regular file that can be
// read, or it is too large. Fails with unavailable if the process has no descriptors or memory
// left: the file may be there, and the same call may succeed later.
Result<std::optional<std::string>> contents_of(const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  if (!file && is_shortage(errno))
    return fail(Code::unavailable, fmt::format("{} cannot be read now: {}; try again later", path,
                                               std::generic_category().message(errno)));
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  std::string contents;
  std::array<char, 64 * 1024> bytes{};
  while (true) {
    const ssize_t count = ::read(file.get(), bytes.data(), bytes.size());
    if (count < 0) return std::nullopt;
    if (count == 0) return contents;
    contents.append(bytes.data(), static_cast<std::size_t>(count));
    if (contents.size() > kExecutedFileBytesMax) return std::nullopt;
  }
}

Result<std::string> identity_of(const std::string& folder) {
  struct stat found{};
  if (::stat(folder.c_str(), &found) != 0)
    return fail(Code::invalid_params, fmt::format("cwd: {} cannot be accessed", folder));
  return fmt::format("{}:{}", found.st_dev, found.st_ino);
}

// The leftmost symlink on the path, and its target.
std::optional<ports::HeldFiles::Link> first_link(const std::string& path) {
  for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string step = path.substr(0, at);
    std::array<char, PATH_MAX> target{};
    const ssize_t size = ::readlink(step.c_str(), target.data(), target.size());
    if (size > 0)
      return ports::HeldFiles::Link{step, {target.data(), static_cast<std::size_t>(size)}};
    if (at == std::string::npos) return std::nullopt;
  }
}

// Adds every path that leads to the file, one per symlink; the last one has none. False: too many.
bool follow_links(const std::string& path, std::size_t file, ports::HeldFiles& held) {
  std::string at = path;
  for (std::size_t links = 0; links <= kLinksMax; ++links) {
    const auto folder = identity_of(std::filesystem::path(at).parent_path().string());
    held.paths.push_back({file, at, folder.value_or("")});
    auto link = first_link(at);
    if (!link) return true;
    const std::filesystem::path target =
        std::filesystem::path(link->path).parent_path() / link->target;
    at = (target.string() + at.substr(link->path.size()));
    at = std::filesystem::path(at).lexically_normal().string();
    held.links.push_back(*std::move(link));
  }
  return false;
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
  TRY_ASSIGN(binding.cwd_identity, identity_of(profile.cwd));
  std::ranges::sort(profile.environment);
  std::ranges::transform(profile.environment, std::back_inserter(binding.environment_names),
                         name_of_variable);
  binding.environment_digest = digest_text(sha256(schema::to_json(profile.environment)));
  profile.environment.clear();
  binding.profile_digest = digest_text(sha256(schema::to_json(profile)));
  for (const std::string& path : executes) {
    const std::string whole = path.starts_with('/') ? path : profile.cwd + "/" + path;
    TRY_ASSIGN(const auto contents, contents_of(whole));
    binding.files.push_back({path, std::nullopt});
    if (contents) binding.files.back().digest = digest_text(sha256(*contents));
  }
  return binding;
}

bool DiskInspector::is_absent(const std::string& path) {
  struct stat found{};
  return ::lstat(path.c_str(), &found) != 0 && errno == ENOENT;
}

Result<std::shared_ptr<const ports::HeldFiles>> DiskInspector::hold(
    const ports::ProcessRequest& request, const std::vector<std::string>& executes) {
  TRY_ASSIGN(const schema::SandboxProfile profile, profile_(request));
  auto held = std::make_shared<ports::HeldFiles>();
  TRY_ASSIGN(held->cwd_identity, identity_of(profile.cwd));
  std::string all;
  for (const std::string& path : executes) {
    const std::string whole = path.starts_with('/') ? path : profile.cwd + "/" + path;
    held->files.push_back({path, std::nullopt});
    TRY_ASSIGN(const auto contents, contents_of(whole));
    if (!contents || all.size() + contents->size() > kHeldBytesMax) continue;
    if (!follow_links(whole, held->sizes.size(), *held))
      return fail(
          Code::invalid_params,
          fmt::format("{} is reached through more than {} symbolic links", path, kLinksMax));
    held->files.back().digest = digest_text(sha256(*contents));
    held->sizes.push_back(contents->size());
    all += *contents;
  }
  if (!held->sizes.empty()) {
    TRY_ASSIGN(held->copies, adapters::file_in_memory("agentrt-approved", all));
  }
  return held;
}

}  // namespace agentrt::runtime
