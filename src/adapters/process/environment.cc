#include "adapters/process/environment.h"

#include <sys/utsname.h>

#include <algorithm>

#include "base/digest.h"
#include "schema/tools.h"

namespace agentrt::adapters {
namespace {

constexpr std::size_t kWorkspaceIdDigits = 24;

std::string digest(const std::string& text) { return hex(bytes_of(sha256(text))); }

}  // namespace

schema::ExecutionEnvironment environment_of(const schema::SandboxProfile& profile) {
  schema::ExecutionEnvironment out;
  const std::string workspace = profile.roots.empty() ? profile.cwd : profile.roots.front();
  out.workspace_id = "ws_" + digest(workspace).substr(0, kWorkspaceIdDigits);
  out.cwd = profile.cwd;
  if (profile.roots.size() > 1)
    out.additional_roots.assign(profile.roots.begin() + 1, profile.roots.end());
  out.shell = schema::kShellProgram;
  utsname machine{};
  if (::uname(&machine) == 0) {
    out.os = std::string(machine.sysname) + " " + machine.release;
    out.arch = machine.machine;
  }
  std::vector<std::string> variables = profile.environment;
  std::ranges::sort(variables);
  std::string all;
  for (const std::string& variable : variables) {
    out.env_names.push_back(variable.substr(0, variable.find('=')));
    all.append(variable).push_back('\0');
  }
  out.env_ref = "env:sha256:" + digest(all);
  out.sandbox_profile.mode = profile.mode;
  const bool writes = profile.mode != schema::SandboxMode::read_only;
  (writes ? out.sandbox_profile.write_roots : out.sandbox_profile.read_roots) = profile.roots;
  out.network_profile = profile.network;
  out.resource_limits = profile.process_limits;
  return out;
}

}  // namespace agentrt::adapters
