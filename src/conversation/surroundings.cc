#include "conversation/surroundings.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "schema/tools.h"

namespace agentrt::conversation {

using namespace schema;

namespace {

constexpr std::size_t kRootsShownMax = 8;

std::string date_of(Timestamp at) {
  const std::chrono::sys_days day = std::chrono::floor<std::chrono::days>(
      std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(at.ms)));
  const std::chrono::year_month_day date(day);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

std::string list_of(const std::vector<std::string>& folders) {
  const std::size_t shown = std::min(folders.size(), kRootsShownMax);
  std::string out = fmt::format(
      "{}", fmt::join(folders.begin(), folders.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (folders.size() > shown) out += fmt::format(" and {} more", folders.size() - shown);
  return out;
}

std::string git_line(const ports::GitState& git) {
  std::string out = git.branch.empty() ? "no branch, commit " + git.commit : "branch " + git.branch;
  if (git.changed)
    out += *git.changed ? ", tracked files have uncommitted changes"
                        : ", tracked files have no uncommitted changes";
  if (!git.operation.empty()) out += fmt::format(", a {} is in progress", git.operation);
  return out;
}

std::string sandbox_line(const Scene& scene) {
  switch (scene.policy.sandbox) {
    case SandboxMode::read_only:
      return "read_only: commands can read files, and write nothing";
    case SandboxMode::workspace_write: {
      const bool known =
          scene.environment && !scene.environment->sandbox_profile.write_roots.empty();
      return fmt::format(
          "workspace_write: commands can write only to {} and a private /tmp",
          known ? list_of(scene.environment->sandbox_profile.write_roots) : scene.cwd);
    }
    case SandboxMode::full_access:
      break;
  }
  return "full_access: commands have the rights of the user";
}

std::string network_line(const Scene& scene) {
  const bool reachable = scene.environment
                             ? scene.environment->network_profile == CommandNetwork::host
                             : scene.policy.network;
  return reachable ? "commands can reach it" : "commands cannot reach it";
}

// What happens to a call that no rule covers.
std::string_view mode_line(PermissionMode mode) {
  switch (mode) {
    case PermissionMode::default_:
      return "default: reading in the folder is allowed; commands and changes need a rule or an "
             "approval";
    case PermissionMode::untrusted:
      return "untrusted: every call needs a rule or an approval";
    case PermissionMode::on_request:
      return "on_request: work in the sandbox is allowed; leaving it needs an approval";
    case PermissionMode::on_failure:
      return "on_failure: commands run in the sandbox first; one that it stops may be approved to "
             "run outside";
    case PermissionMode::never:
      return "never: reading in the folder is allowed; anything else needs a rule, and nobody is "
             "asked";
    case PermissionMode::plan:
      return "plan: read and propose. Explore with tools that read, then answer with a plan; "
             "changes and commands are denied";
    case PermissionMode::auto_:
      return "auto: calls that are recognized as harmless are allowed; others need a rule or an "
             "approval";
    case PermissionMode::bypass:
      return "bypass: everything is allowed that no rule denies or asks about";
  }
  return "";
}

std::string approvals_line(const policy::Effective& policy) {
  if (!policy.asks_people() || policy.mode == PermissionMode::never)
    return "nobody can be asked in this run; a call that needs an approval fails, so find another "
           "way or say what you need";
  return "make the call; if it needs an approval, a person is asked and the call waits for the "
         "answer. Do not ask for permission in your text";
}

// Calls `visit` with the label and the member of each line.
template <class Visit>
void each_line(const Visit& visit) {
  visit("Date (UTC)", &Surroundings::date);
  visit("Operating system", &Surroundings::os);
  visit("Shell", &Surroundings::shell);
  visit("Folder", &Surroundings::folder);
  visit("Git", &Surroundings::git);
  visit("Sandbox", &Surroundings::sandbox);
  visit("Network", &Surroundings::network);
  visit("Permission mode", &Surroundings::mode);
  visit("Approvals", &Surroundings::approvals);
}

const std::string& text_in(const std::string& text) { return text; }
std::string text_in(const std::optional<std::string>& text) {
  return text.value_or("not a repository");
}

}  // namespace

Surroundings surroundings_of(const Scene& scene) {
  Surroundings out;
  out.date = date_of(scene.now);
  out.os = scene.environment ? scene.environment->os + " " + scene.environment->arch : "unknown";
  out.shell = scene.environment ? scene.environment->shell : std::string(kShellProgram);
  out.folder = scene.cwd;
  if (!scene.additional_roots.empty())
    out.folder += fmt::format(" (the workspace); also {}", list_of(scene.additional_roots));
  if (scene.git) out.git = git_line(*scene.git);
  out.sandbox = sandbox_line(scene);
  out.network = network_line(scene);
  out.mode = mode_line(scene.policy.mode);
  out.approvals = approvals_line(scene.policy);
  return out;
}

std::optional<std::string> surroundings_message(const std::optional<Surroundings>& known,
                                                const Surroundings& now) {
  std::string lines;
  each_line([&](std::string_view label, auto member) {
    if (!known || (*known).*member != now.*member)
      lines += fmt::format("- {}: {}\n", label, text_in(now.*member));
  });
  if (lines.empty()) return std::nullopt;
  constexpr std::string_view kAll =
      "[From the runtime, not from the person: where you work. A later message says what has "
      "changed.]\n";
  constexpr std::string_view kChanged = "[From the runtime: this has changed.]\n";
  return std::string(known ? kChanged : kAll) + lines;
}

}  // namespace agentrt::conversation
