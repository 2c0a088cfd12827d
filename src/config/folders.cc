#include "config/folders.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

namespace agentrt::config {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPasswdBytesMax = std::size_t{4} << 20;

// Resolves symlinks in the existing part of the path; the rest stays unchanged.
Result<std::string> resolved(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  if (error)
    return fail(Code::invalid_params,
                fmt::format("{} cannot be opened: {}", path, error.message()));
  std::string text = real.lexically_normal().string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

std::string passwd_text() {
  std::ifstream file("/etc/passwd", std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  text.resize(std::min(text.size(), kPasswdBytesMax));
  return text;
}

}  // namespace

std::string user_name() {
  return policy::user_of(passwd_text(), ::geteuid()).value_or(fmt::format("user {}", ::geteuid()));
}

DiskFolders::DiskFolders(const Config& config, std::string workspace, const std::string& data,
                         const Environment& environment) {
  rules_.workspace = std::move(workspace);
  rules_.granted = config.sandbox.roots;
  rules_.managed = config.managed_roots;
  rules_.own = {data};
  if (const auto user = user_config_path(environment))
    rules_.own.push_back(fs::path(*user).parent_path().string());
  if (config.sources.named) rules_.own.push_back(fs::absolute(*config.sources.named).string());
  if (const auto home = environment("HOME"); home && home->starts_with('/'))
    rules_.homes.push_back(*home);
  const std::string passwd = passwd_text();
  if (auto home = policy::home_of(passwd, ::geteuid())) rules_.homes.push_back(*std::move(home));
  rules_.other_homes = policy::homes_of_others(passwd, ::geteuid());
  // Resolve once here, not per decision: a command could replace a configured folder by a symlink.
  rules_.workspace = resolved(rules_.workspace).value_or(rules_.workspace);
  for (auto* paths :
       {&rules_.granted, &rules_.managed, &rules_.own, &rules_.homes, &rules_.other_homes})
    for (std::string& path : *paths) path = resolved(path).value_or(path);
}

schema::FolderFinding DiskFolders::judge(const schema::FolderChoice& choice,
                                         const schema::FolderGrant& grant) {
  schema::FolderFinding finding{choice, policy::wrong_folders("", choice)};
  if (finding.refusal) return finding;
  if (!finding.folders.cwd && grant.bound)
    finding.folders.cwd = grant.folder;
  else if (!finding.folders.cwd && rules_.workspace == "/")
    finding.folders.cwd = grant.started_in;
  const auto take = [&](std::string& path, policy::FolderUse use) {
    auto real = resolved(path);
    if (!real) {
      finding.refusal = real.error();
      return;
    }
    const std::string given = std::exchange(path, *std::move(real));
    finding.refusal = policy::refused_folder(rules_, grant, {use, given, path});
    std::error_code error;
    if (!finding.refusal && use == policy::FolderUse::additional && !fs::is_directory(path, error))
      finding.refusal = Error{
          Code::invalid_params, fmt::format("additionalRoots: {} is not a folder", given), {}};
  };
  if (finding.folders.cwd) take(*finding.folders.cwd, policy::FolderUse::workspace);
  for (std::string& root : finding.folders.additional_roots)
    if (!finding.refusal) take(root, policy::FolderUse::additional);
  return finding;
}

}  // namespace agentrt::config
