#include "schema/environment.h"

namespace agentrt::schema {

RecordedEnvironment recorded(const ExecutionEnvironment& environment) {
  return {.workspace_id = environment.workspace_id,
          .cwd = environment.cwd,
          .additional_roots = environment.additional_roots,
          .shell = environment.shell,
          .os = environment.os,
          .arch = environment.arch,
          .env_ref = environment.env_ref,
          .env_names = environment.env_names,
          .sandbox_profile = environment.sandbox_profile,
          .network_profile = environment.network_profile,
          .resource_limits = environment.resource_limits};
}

ExecutionEnvironment complete(const RecordedEnvironment& recorded) {
  return {.workspace_id = recorded.workspace_id.value_or(""),
          .cwd = recorded.cwd.value_or(""),
          .additional_roots = recorded.additional_roots.value_or(std::vector<std::string>{}),
          .shell = recorded.shell.value_or(""),
          .os = recorded.os.value_or(""),
          .arch = recorded.arch.value_or(""),
          .env_ref = recorded.env_ref.value_or(""),
          .env_names = recorded.env_names.value_or(std::vector<std::string>{}),
          .sandbox_profile = recorded.sandbox_profile.value_or(EnvironmentSandbox{}),
          .network_profile = recorded.network_profile.value_or(CommandNetwork::none),
          .resource_limits = recorded.resource_limits.value_or(ProcessLimits{})};
}

}  // namespace agentrt::schema
