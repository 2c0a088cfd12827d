#include "runtime/sandbox.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include <fmt/format.h>

#include "adapters/process/launch.h"
#include "adapters/process/launcher_report.h"
#include "adapters/process/left_behind.h"
#include "adapters/process/sandbox.h"

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

}  // namespace

Result<SandboxOutcome> run_in_sandbox(const schema::SandboxProfile& profile,
                                      std::vector<std::string> command) {
  // The launcher forwards these signals to the command, and this process ends after the command.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
  const adapters::Repositories repositories = adapters::repositories_of(profile);
  const std::string before = adapters::state_of_workspace(profile, repositories);
  TRY_ASSIGN(SandboxOutcome outcome,
             run_spec(adapters::spec_of(profile, std::move(command), repositories)));
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
