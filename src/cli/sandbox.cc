// cli/sandbox.cc: `agentrt sandbox`: runs one command in the sandbox that a tool would get.
#include <cerrno>

#include <fmt/format.h>

#include "cli/verbs.h"
#include "config/sandbox.h"
#include "runtime/sandbox.h"
#include "schema/codec.h"

namespace agentrt::cli {
namespace {

constexpr int kExitNotApplied = 125;
constexpr int kExitNotExecutable = 126;
constexpr int kExitNotFound = 127;

std::string list_of(const std::vector<std::string>& paths, std::string_view indent) {
  std::string out;
  for (const std::string& path : paths)
    out += fmt::format("{}{}\n", out.empty() ? "" : indent, visible_line(path));
  return out.empty() ? "-\n" : out;
}

std::string profile_text(const schema::SandboxProfile& profile) {
  constexpr std::string_view kIndent = "             ";
  std::vector<std::string> names;
  for (const std::string& variable : profile.environment)
    names.push_back(variable.substr(0, variable.find('=')));
  std::string environment;
  for (const std::string& name : names) environment += (environment.empty() ? "" : " ") + name;
  return fmt::format(
      "mode         {}\nnetwork      {}\nroots        {}read-only    {}hidden       {}"
      "environment  {}\nlimits       {} processes, {} open files, {} MiB in /tmp\n",
      schema::name_of(profile.mode), schema::name_of(profile.network),
      list_of(profile.roots, kIndent), list_of(profile.protected_paths, kIndent),
      list_of(profile.hidden_paths, kIndent), environment, profile.process_limits.processes,
      profile.process_limits.open_files, profile.process_limits.tmp_bytes >> 20);
}

std::string layers_text(const std::vector<runtime::LayerReport>& layers) {
  std::string out = "layers       ";
  for (const runtime::LayerReport& layer : layers)
    out += fmt::format("{}{:<17} {}\n", &layer == &layers.front() ? "" : "             ",
                       layer.name, layer.enforced ? layer.how : "absent: " + layer.how);
  return out;
}

std::string layers_json(const std::vector<runtime::LayerReport>& layers) {
  std::string out;
  for (const runtime::LayerReport& layer : layers)
    out += fmt::format(R"({}{{"layer":{},"enforced":{},"how":{}}})", out.empty() ? "" : ",",
                       schema::to_json(layer.name), layer.enforced, schema::to_json(layer.how));
  return "[" + out + "]";
}

int refused(Context& context, const std::string& why) {
  context.output.problem(
      {Code::unavailable,
       fmt::format(
           "The sandbox cannot be applied, so the command was not run: {}; see agentrt doctor.",
           why),
       {}});
  return kExitNotApplied;
}

// Reports on standard error, after the command's own output, what was blocked and by which layer.
void tell_events(Output& output, const runtime::SandboxOutcome& outcome) {
  for (const runtime::SandboxViolation& violation : outcome.violations)
    output.err(fmt::format("agentrt: {} by {}: {}\n", violation.advisory ? "observed" : "blocked",
                           violation.layer, visible_line(violation.attempted)));
  if (outcome.violation_count > outcome.violations.size())
    output.err(
        fmt::format("agentrt: and {} more\n", outcome.violation_count - outcome.violations.size()));
  for (const std::string& limit : outcome.limits_hit)
    output.err(fmt::format("agentrt: the command reached the limit on {}\n", limit));
}

// Uses the shell's exit codes: the sandbox worked, but the command could not be executed.
int not_executed(Context& context, const std::string& command,
                 const runtime::SandboxOutcome& outcome) {
  context.output.problem(
      {Code::unavailable,
       fmt::format("{} cannot be executed: {}.", visible_line(command), outcome.refusal),
       {}});
  return outcome.exec_error == ENOENT ? kExitNotFound : kExitNotExecutable;
}

// Prints the profile, and which parts this kernel enforces, determined by a trial run.
int explain(Context& context, const schema::SandboxProfile& profile) {
  const auto tried = runtime::run_in_sandbox(profile, {"/bin/true"});
  if (!tried) return refused(context, tried.error().message);
  if (context.form() == Form::json) {
    context.output.out(fmt::format(R"({{"profile":{},"applied":{},"layers":{}}})"
                                   "\n",
                                   schema::to_json(profile), tried->ran,
                                   layers_json(tried->layers)));
  } else {
    context.output.out(profile_text(profile) + layers_text(tried->layers));
  }
  return tried->ran ? kExitDone : refused(context, tried->refusal);
}

}  // namespace

int run_sandboxed(Context& context, const SandboxArguments& arguments) {
  Output& output = context.output;
  const auto named = folder_option("--cwd", arguments.cwd);
  if (!named) return output.problem(named.error());
  const std::string cwd = named->value_or(context.cwd);
  const auto data = data_folder_of(context);
  if (!data) return output.problem(data.error());
  const auto config = config_of(context, cwd);
  if (!config) return output.problem(config.error());
  config::SandboxChoice choice;
  if (arguments.profile) choice.mode = schema::enum_of<schema::SandboxMode>(*arguments.profile);
  if (arguments.allow_network) choice.network = true;
  choice.workspace = cwd;
  choice.shell = true;
  const auto profile = config::sandbox_profile_of(*config, choice, *data, context.environment);
  if (!profile) return output.problem(profile.error());
  if (arguments.explain) return explain(context, *profile);
  if (arguments.command.empty())
    return output.problem({Code::invalid_params,
                           "Give the command after --, for example: agentrt sandbox -- ls",
                           {}});
  const auto outcome = runtime::run_in_sandbox(*profile, arguments.command);
  if (!outcome) return refused(context, outcome.error().message);
  tell_events(output, *outcome);
  if (outcome->exec_error) return not_executed(context, arguments.command.front(), *outcome);
  if (!outcome->ran) return refused(context, outcome->refusal);
  if (outcome->exit_code) return *outcome->exit_code;
  return 128 + outcome->signal.value_or(9);
}

}  // namespace agentrt::cli
