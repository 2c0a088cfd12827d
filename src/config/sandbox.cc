#include "config/sandbox.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/real_path.h"
#include "policy/paths.h"
#include "policy/sandbox_profile.h"
#include "schema/tools.h"

namespace agentrt::config {
namespace {

Result<std::vector<std::string>> roots_of(const SandboxChoice& choice) {
  std::vector<std::string> roots{choice.workspace};
  roots.insert(roots.end(), choice.additional_roots.begin(), choice.additional_roots.end());
  for (std::string& root : roots) {
    std::error_code error;
    if (!std::filesystem::is_directory(root, error))
      return fail(Code::invalid_params, fmt::format("{} is not a folder.", root));
    std::string real = real_path(root);
    // Folders are resolved when chosen. A symlink that appears later could redirect the sandbox.
    if (real != policy::normal_path(root, "/", "/"))
      return fail(Code::invalid_params,
                  fmt::format("{} is now a symbolic link, or is below one, and resolves to {}; "
                              "create a session in that folder instead.",
                              root, real));
    root = std::move(real);
  }
  return roots;
}

// Adds the folders of [sandbox] write. One that does not exist yet, such as a cache that no program
// has created, must not stop every command.
void add_write_folders(const Config& config, const std::string& home,
                       std::vector<std::string>& roots) {
  for (const std::string& given : config.sandbox.write) {
    if (given.starts_with("~/") && home.empty()) continue;
    const std::string folder = given.starts_with("~/") ? home + given.substr(1) : given;
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error)) continue;
    const std::string real = real_path(folder);
    const bool held = std::ranges::any_of(
        roots, [&](const std::string& root) { return policy::is_within(real, root); });
    if (!held) roots.push_back(real);
  }
}

Result<std::string> cwd_of(const SandboxChoice& choice, const std::vector<std::string>& roots) {
  if (!choice.cwd) return roots.front();
  const std::string cwd = real_path((std::filesystem::path(roots.front()) / *choice.cwd).string());
  std::error_code error;
  const bool inside = std::ranges::any_of(roots, [&](const std::string& root) {
    return cwd == root || cwd.starts_with(root == "/" ? root : root + "/");
  });
  if (!inside || !std::filesystem::is_directory(cwd, error))
    return fail(Code::invalid_params,
                fmt::format("cwd: {} is not a folder in the workspace", *choice.cwd));
  return cwd;
}

// The existing folders of `wanted` that are inside the roots, with symlinks resolved.
std::vector<std::string> writable_of(const std::vector<std::string>& wanted,
                                     const std::vector<std::string>& roots) {
  std::vector<std::string> out;
  for (const std::string& folder : wanted) {
    std::error_code error;
    std::string real = real_path(folder);
    const bool inside = std::ranges::any_of(
        roots, [&](const std::string& root) { return policy::is_within(real, root); });
    if (inside && std::filesystem::is_directory(real, error)) out.push_back(std::move(real));
  }
  return out;
}

// Rejects a root that the profile itself would hide.
Result<void> check_roots(const schema::SandboxProfile& profile) {
  for (const std::string& root : profile.roots) {
    if (root == "/" && profile.mode != schema::SandboxMode::full_access)
      return fail(Code::invalid_params,
                  "The workspace cannot be /; choose another folder, or the profile full_access.");
    for (const std::string& hidden : profile.hidden_paths)
      if (policy::is_within(root, real_path(hidden)))
        return fail(Code::invalid_params,
                    fmt::format("The folder {} is inside {}, which is hidden from commands; "
                                "choose another folder for the session or for [sandbox] write.",
                                root, hidden));
  }
  return {};
}

}  // namespace

Result<schema::SandboxProfile> sandbox_outline_of(const Config& config, const SandboxChoice& choice,
                                                  const std::string& data,
                                                  const Environment& environment) {
  policy::SandboxInputs inputs;
  TRY_ASSIGN(inputs.roots, roots_of(choice));
  TRY_ASSIGN(inputs.cwd, cwd_of(choice, inputs.roots));
  inputs.mode = choice.mode.value_or(config.sandbox.mode);
  if (config.managed_sandbox && !policy::at_most_as_lax(inputs.mode, *config.managed_sandbox))
    return fail(Code::invalid_params,
                fmt::format("The managed configuration allows at most the sandbox mode {}.",
                            schema::name_of(*config.managed_sandbox)));
  if (choice.write_roots && inputs.mode == schema::SandboxMode::workspace_write) {
    std::vector<std::string> writable = writable_of(*choice.write_roots, inputs.roots);
    if (writable.empty())
      inputs.mode = schema::SandboxMode::read_only;
    else
      inputs.roots = std::move(writable);
  }
  const bool network = choice.network.value_or(config.sandbox.network);
  inputs.network = network ? schema::CommandNetwork::host : schema::CommandNetwork::none;
  inputs.home = environment("HOME").value_or("");
  inputs.own_paths = {data};
  if (const auto user = user_config_path(environment))
    inputs.own_paths.push_back(std::filesystem::path(*user).parent_path().string());
  const Environment& variables = choice.variables ? choice.variables : environment;
  for (const std::string_view name : policy::environment_kept())
    if (const auto value = variables(name)) inputs.environment[std::string(name)] = *value;
  // If SHELL is unset, as in services, each shell would look it up in the user database.
  inputs.environment.try_emplace("SHELL", schema::kShellProgram);
  if (choice.shell) {
    if (!choice.write_roots) add_write_folders(config, inputs.home, inputs.roots);
    inputs.added = config.shell_env;
  }
  inputs.denied = choice.hidden;
  schema::SandboxProfile profile = policy::sandbox_profile(inputs);
  profile.report_writes = config.sandbox.report_writes;
  return profile;
}

Result<schema::SandboxProfile> sandbox_profile_of(const Config& config, const SandboxChoice& choice,
                                                  const std::string& data,
                                                  const Environment& environment) {
  TRY_ASSIGN(schema::SandboxProfile profile, sandbox_outline_of(config, choice, data, environment));
  TRY(check_roots(profile));
  return profile;
}

}  // namespace agentrt::config
