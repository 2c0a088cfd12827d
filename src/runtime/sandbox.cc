#include "runtime/sandbox.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "adapters/process/launch.h"
#include "adapters/process/launcher_report.h"
#include "adapters/process/left_behind.h"
#include "adapters/process/sandbox.h"
#include "policy/paths.h"
#include "policy/sandbox_profile.h"
#include "schema/tools.h"

namespace agentrt::runtime {
namespace {

using launcher::bit;
using launcher::Layer;

void take_layers(const adapters::LauncherReport& report, SandboxOutcome& outcome) {
  for (adapters::LauncherLayer& layer : adapters::layers_of(report))
    outcome.layers.push_back({std::move(layer.name), layer.enforced, std::move(layer.how)});
}

// Processes one launcher report. Returns true if it is the last one.
Result<bool> take(const std::string& text, const adapters::Launched& launched,
                  SandboxOutcome& outcome) {
  const adapters::LauncherReport report = adapters::read_launcher_report(text);
  if (report.event == "ready") {
    take_layers(report, outcome);
    TRY(launched.order("go"));
  } else if (report.event == "started") {
    outcome.ran = true;
  } else if (report.event == "refused") {
    take_layers(report, outcome);
    outcome.refusal = adapters::refusal_of(report);
    return true;
  } else if (report.event == "execFailed") {
    outcome.exec_error = static_cast<int>(report.error.value_or(0));
    outcome.refusal = std::strerror(*outcome.exec_error);
  } else if (report.event == "violation") {
    outcome.violations.push_back({report.kind.value_or(""), report.attempted.value_or(""),
                                  report.layer.value_or(""), report.advisory.value_or(false)});
  } else if (report.event == "exited") {
    if (report.code) outcome.exit_code = static_cast<int>(*report.code);
    if (report.signal) outcome.signal = static_cast<int>(*report.signal);
    outcome.violation_count = report.violations.value_or(0);
    outcome.limits_hit = report.limits_hit;
    return true;
  }
  return false;
}

Result<std::vector<std::string>> roots_of(const SandboxChoice& choice) {
  std::vector<std::string> roots{choice.workspace};
  roots.insert(roots.end(), choice.additional_roots.begin(), choice.additional_roots.end());
  for (std::string& root : roots) {
    std::error_code error;
    if (!std::filesystem::is_directory(root, error))
      return fail(Code::invalid_params, fmt::format("{} is not a folder.", root));
    std::string real = adapters::real_path(root);
    // Folders are resolved when chosen. A symlink that appears later could redirect the sandbox.
    if (real != policy::normal_path(root, "/", "/"))
      return fail(Code::invalid_params,
                  fmt::format("{} is now a symlink, or lies below one, and leads to {}; open a "
                              "session in that folder instead.",
                              root, real));
    root = std::move(real);
  }
  return roots;
}

Result<std::string> cwd_of(const SandboxChoice& choice, const std::vector<std::string>& roots) {
  if (!choice.cwd) return roots.front();
  const std::string cwd =
      adapters::real_path((std::filesystem::path(roots.front()) / *choice.cwd).string());
  std::error_code error;
  const bool inside = std::ranges::any_of(roots, [&](const std::string& root) {
    return cwd == root || cwd.starts_with(root == "/" ? root : root + "/");
  });
  if (!inside || !std::filesystem::is_directory(cwd, error))
    return fail(Code::invalid_params,
                fmt::format("cwd: {} is not a folder of the workspace", *choice.cwd));
  return cwd;
}

Result<SandboxOutcome> run_spec(const launcher::Spec& spec) {
  TRY_ASSIGN(adapters::Launched launched, adapters::launch(spec));
  SandboxOutcome outcome;
  for (bool last = false; !last;) {
    TRY_ASSIGN(const std::string text, launched.report());
    if (text.empty()) break;
    TRY_ASSIGN(last, take(text, launched, outcome));
  }
  launched.wait();
  return outcome;
}

// Returns false if the launcher did not report the layer.
bool take_finding(const SandboxOutcome& outcome, SandboxFinding& finding) {
  const auto found = std::ranges::find(outcome.layers, finding.layer, &LayerReport::name);
  if (found == outcome.layers.end()) return false;
  finding.enforced = found->enforced;
  finding.finding = found->how;
  return true;
}

// Tests a layer alone, with its dependencies, for a machine on which the complete sandbox fails.
void probe_alone(const launcher::Spec& whole, launcher::Layer layer, SandboxFinding& finding) {
  launcher::Spec spec = whole;
  spec.required = 0;
  spec.wanted = bit(layer);
  if (layer == Layer::notify) spec.wanted |= bit(Layer::seccomp);
  if (layer == Layer::identity) spec.wanted |= bit(Layer::user_namespace);
  if (::geteuid() != 0 && layer != Layer::seccomp && layer != Layer::landlock)
    spec.wanted |= bit(Layer::user_namespace);  // unprivileged users need it for the other layers
  const auto alone = run_spec(spec);
  if (alone && alone->ran && take_finding(*alone, finding)) return;
  finding.enforced = false;
  finding.finding = alone ? alone->refusal : alone.error().message;
}

bool is_within(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

// Rejects a root that the profile itself would hide.
Result<void> check_roots(const schema::SandboxProfile& profile) {
  for (const std::string& root : profile.roots) {
    if (root == "/" && profile.mode != schema::SandboxMode::full_access)
      return fail(Code::invalid_params,
                  "The workspace may not be /; choose a folder, or the profile full_access.");
    for (const std::string& hidden : profile.hidden_paths)
      if (is_within(root, adapters::real_path(hidden)))
        return fail(Code::invalid_params,
                    fmt::format("The workspace {} lies within {}, which is hidden from commands.",
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
  if (config.managed_sandbox && !at_most_as_lax(inputs.mode, *config.managed_sandbox))
    return fail(Code::invalid_params,
                fmt::format("The host policy allows at most the sandbox mode {}.",
                            schema::name_of(*config.managed_sandbox)));
  const bool network = choice.network.value_or(config.sandbox.network);
  inputs.network = network ? schema::CommandNetwork::host : schema::CommandNetwork::none;
  inputs.home = environment("HOME").value_or("");
  inputs.own_paths = {data};
  if (const auto user = user_config_path(environment))
    inputs.own_paths.push_back(std::filesystem::path(*user).parent_path().string());
  for (const std::string_view name : policy::environment_kept())
    if (const auto value = environment(name)) inputs.environment[std::string(name)] = *value;
  // If SHELL is unset, as in services, each shell would look it up in the user database.
  inputs.environment.try_emplace("SHELL", schema::kShellProgram);
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

Result<SandboxOutcome> run_in_sandbox(const schema::SandboxProfile& profile,
                                      std::vector<std::string> command) {
  // The launcher forwards these signals to the command, and this process ends after the command.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
  const std::string before = adapters::state_of_workspace(profile);
  TRY_ASSIGN(SandboxOutcome outcome, run_spec(adapters::spec_of(profile, std::move(command))));
  if (!outcome.ran) return outcome;
  for (schema::SandboxViolation& found : adapters::left_behind(before)) {
    ++outcome.violation_count;
    outcome.violations.push_back({std::string(schema::name_of(found.kind)),
                                  std::move(found.attempted), std::move(found.layer), true});
  }
  return outcome;
}

SandboxCheckup check_sandbox(const schema::SandboxProfile& profile) {
  SandboxCheckup checkup;
  const launcher::Spec spec = adapters::spec_of(profile, {"/bin/true"});
  const auto whole = run_spec(spec);
  checkup.runs = whole && whole->ran;
  if (!checkup.runs) checkup.refusal = whole ? whole->refusal : whole.error().message;
  for (const adapters::LayerRule& rule : adapters::layer_rules()) {
    if (!adapters::applies(rule.layer, profile)) continue;
    SandboxFinding finding{.layer = std::string(launcher::name_of(rule.layer)),
                           .required = (spec.required & bit(rule.layer)) != 0,
                           .finding = "",
                           .without = rule.without,
                           .remedy = rule.remedy};
    if (!whole || !take_finding(*whole, finding)) probe_alone(spec, rule.layer, finding);
    checkup.layers.push_back(std::move(finding));
  }
  return checkup;
}

}  // namespace agentrt::runtime
