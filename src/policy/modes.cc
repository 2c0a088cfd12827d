#include "policy/modes.h"

#include <fmt/format.h>

#include "policy/paths.h"
#include "policy/steering.h"
#include "tools/registry.h"

namespace agentrt::policy {
namespace {

using schema::Decision;
using schema::DecisionSource;
using schema::PermissionMode;
using schema::SandboxMode;
using schema::Verdict;

Verdict says(Decision decision, std::string reason) {
  return {DecisionSource::mode, decision, std::nullopt, std::move(reason)};
}

// Tools that change only the session itself, and start no work in it.
bool stays_in_session(std::string_view tool) {
  const tools::Tool* own = tools::find(tool);
  if (!own) return false;
  return own->runs == tools::Runner::session || own->runs == tools::Runner::person ||
         (own->runs == tools::Runner::agent && own->access == tools::Access::read);
}

// The folder of the session that holds the path; null: none does.
const std::string* folder_of(const Asked& asked, const std::string& path) {
  if (is_within(path, asked.workspace)) return &asked.workspace;
  for (const std::string& root : asked.roots)
    if (is_within(path, root)) return &root;
  return nullptr;
}

// Whether a file tool is to work in the folders that the session was given: its workspace and those
// of --add-dir, which were granted in the same way.
bool is_inside(const Asked& asked, const Effective& policy) {
  if (!is_file_tool(asked.tool)) return false;
  const std::string path = normal_path(asked.text, asked.cwd, policy.home);
  if (folder_of(asked, path) == nullptr) return false;
  if (asked.real_path) return folder_of(asked, normal_path(*asked.real_path, "/", "/")) != nullptr;
  return !climbs(asked.text);
}

bool is_steering_file(const Asked& asked, const Effective& policy) {
  const auto steers = [&](const std::string& path) {
    const std::string* folder = folder_of(asked, path);
    return is_steering_path(path, folder == nullptr ? asked.workspace : *folder);
  };
  return steers(normal_path(asked.text, asked.cwd, policy.home)) ||
         (asked.real_path && steers(normal_path(*asked.real_path, "/", "/")));
}

std::string mode_name(PermissionMode mode) { return std::string(schema::name_of(mode)); }

// Whether the call writes inside the session's folders and the sandbox lets it.
bool is_confined_write(const Asked& asked, const Effective& policy) {
  return is_inside(asked, policy) && policy.sandbox != SandboxMode::read_only;
}

}  // namespace

bool climbs(std::string_view path) {
  return path == ".." || path.starts_with("../") || path.ends_with("/..") || path.contains("/../");
}

Verdict shell_mode_verdict(const Effective& policy) {
  switch (policy.mode) {
    case PermissionMode::bypass:
      return says(Decision::allow,
                  "The mode bypass allows every call that no rule denies or asks about.");
    case PermissionMode::plan:
      return says(Decision::deny, "The mode plan allows read-only tools only, and no commands.");
    case PermissionMode::on_request:
    case PermissionMode::on_failure:
      if (policy.sandbox != SandboxMode::full_access)
        return says(Decision::sandboxed, fmt::format("The mode {} allows commands in the sandbox.",
                                                     mode_name(policy.mode)));
      return says(Decision::ask, "The command would run without a sandbox (profile full_access).");
    case PermissionMode::default_:
    case PermissionMode::untrusted:
    case PermissionMode::never:
    case PermissionMode::auto_:
      break;
  }
  return says(Decision::ask, "No rule covers the whole command.");
}

Verdict tool_mode_verdict(const Asked& asked, const Effective& policy) {
  if (stays_in_session(asked.tool))
    return says(Decision::allow, fmt::format("{} affects the session only.", asked.tool));
  const bool reads = asked.access == Access::read_only;
  const bool inside = is_inside(asked, policy);
  const Verdict ask =
      says(Decision::ask, is_file_tool(asked.tool) && !inside
                              ? fmt::format("No rule allows {} outside the workspace.", asked.tool)
                              : fmt::format("No rule allows this call of {}.", asked.tool));
  const Verdict reading =
      says(Decision::allow, "Reading in the folders of the session needs no rule.");
  switch (policy.mode) {
    case PermissionMode::bypass:
      return says(Decision::allow,
                  "The mode bypass allows every call that no rule denies or asks about.");
    case PermissionMode::untrusted:
      return ask;
    case PermissionMode::plan:
      if (!reads) return says(Decision::deny, "The mode plan allows read-only tools only.");
      return inside ? reading : ask;
    case PermissionMode::on_request:
    case PermissionMode::on_failure:
    case PermissionMode::auto_:
      if (reads && inside) return reading;
      if (!reads && inside && is_steering_file(asked, policy))
        return says(Decision::ask,
                    fmt::format("{} is a file that controls other programs.", asked.text));
      if (!reads && is_confined_write(asked, policy))
        return says(Decision::allow,
                    fmt::format("The mode {} allows changes of files in the workspace.",
                                mode_name(policy.mode)));
      return ask;
    case PermissionMode::default_:
    case PermissionMode::never:
      break;
  }
  return reads && inside ? reading : ask;
}

Verdict leaving_mode_verdict(const Effective& policy) {
  switch (policy.mode) {
    case PermissionMode::bypass:
    case PermissionMode::plan:
      return shell_mode_verdict(policy);
    case PermissionMode::default_:
    case PermissionMode::untrusted:
    case PermissionMode::on_request:
    case PermissionMode::on_failure:
    case PermissionMode::never:
    case PermissionMode::auto_:
      break;
  }
  return says(Decision::ask,
              "The command asks to run outside the sandbox, and no rule allows that.");
}

}  // namespace agentrt::policy
