#include "config/policies.h"

#include <filesystem>
#include <utility>

#include "config/sandbox.h"

namespace agentrt::config {

FilePolicies::FilePolicies(ConfigSources sources, TrustRecords& records, WallClock now)
    : sources_(std::move(sources)), records_(records), now_(std::move(now)) {}

Result<schema::Policy> FilePolicies::policy(const std::string& cwd) {
  ConfigSources sources = sources_;
  sources.workspace = real_workspace(cwd);
  TRY_ASSIGN(sources.trusted, records_.of(sources.workspace));
  // Take marks before reading, so that a change in between leads to different marks next time.
  const std::int64_t now = now_();
  std::vector<FileMark> marks = marks_of(sources);
  if (auto kept = kept_of(sources, marks)) return *std::move(kept);
  TRY_ASSIGN(const Config config, load_config(sources));
  schema::Policy policy = policy_of(config);
  keep(sources, std::move(marks), now, policy);
  return policy;
}

std::optional<schema::Policy> FilePolicies::kept_of(const ConfigSources& sources,
                                                    const std::vector<FileMark>& marks) {
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(sources.workspace);
  if (found != kept_.end() && found->second.trusted == sources.trusted &&
      found->second.marks == marks)
    return found->second.policy;
  ++readings_;
  return std::nullopt;
}

void FilePolicies::keep(const ConfigSources& sources, std::vector<FileMark> marks, std::int64_t now,
                        const schema::Policy& policy) {
  const std::lock_guard lock(mutex_);
  kept_.erase(sources.workspace);
  if (!settled(marks, now)) return;
  if (kept_.size() >= kPoliciesKeptMax) kept_.clear();
  kept_.emplace(sources.workspace, Kept{sources.trusted, std::move(marks), policy});
}

std::uint64_t FilePolicies::readings() const {
  const std::lock_guard lock(mutex_);
  return readings_;
}

schema::Policy policy_of(const Config& config) {
  schema::Policy policy;
  policy.mode = config.permissions.mode;
  policy.mode_origin = config.permissions.mode_origin;
  policy.sandbox = config.sandbox.mode;
  policy.network = config.sandbox.network;
  policy.rules = config.permissions.rules;
  policy.hooks = config.hooks;
  policy.files = config.policy_files;
  policy.ignored = config.ignored;
  return policy;
}

Result<schema::SandboxProfile> hook_profile_of(const Config& config,
                                               const ports::HookRequest& request,
                                               const std::string& data,
                                               const Environment& environment,
                                               Environment variables) {
  const bool of_workspace = request.hook.origin == schema::RuleOrigin::workspace;
  SandboxChoice choice;
  choice.workspace = request.input.cwd;
  choice.variables = std::move(variables);
  choice.mode = of_workspace ? request.input.sandbox.mode
                             : config.managed_sandbox.value_or(schema::SandboxMode::full_access);
  choice.network =
      of_workspace ? request.input.sandbox.network : config.managed_network.value_or(true);
  TRY_ASSIGN(schema::SandboxProfile profile, sandbox_profile_of(config, choice, data, environment));
  profile.hidden_paths.push_back(config.sources.managed);
  if (!of_workspace && config.sources.claude)  // often contains the scripts of the user's hooks
    std::erase(profile.hidden_paths,
               std::filesystem::path(*config.sources.claude).parent_path().string());
  if (config.sources.named)
    profile.hidden_paths.push_back(std::filesystem::absolute(*config.sources.named).string());
  return profile;
}

}  // namespace agentrt::config
