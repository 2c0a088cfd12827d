// schema/environment.h: what a turn's commands find around them: recorded with each turn, and read
// with get_execution_environment.
#pragma once

#include "schema/sandbox.h"

namespace agentrt::schema {

// What commands may touch; the whole profile is what `agentrt sandbox --explain` prints.
struct EnvironmentSandbox {
  SandboxMode mode = SandboxMode::workspace_write;
  std::vector<std::string> read_roots;
  std::vector<std::string> write_roots;

  bool operator==(const EnvironmentSandbox&) const = default;
};
BOOST_DESCRIBE_STRUCT(EnvironmentSandbox, (), (mode, read_roots, write_roots))

struct ExecutionEnvironment {
  std::string workspace_id;  // the same for the same folder, whatever the session
  std::string cwd;
  std::vector<std::string> additional_roots;
  std::string shell;
  std::string os;
  std::string arch;
  std::string env_ref;                 // env:sha256:…, of names and values
  std::vector<std::string> env_names;  // of the variables that commands get
  EnvironmentSandbox sandbox_profile;
  CommandNetwork network_profile = CommandNetwork::none;
  ProcessLimits resource_limits;

  bool operator==(const ExecutionEnvironment&) const = default;
};
BOOST_DESCRIBE_STRUCT(ExecutionEnvironment, (),
                      (workspace_id, cwd, additional_roots, shell, os, arch, env_ref, env_names,
                       sandbox_profile, network_profile, resource_limits))

}  // namespace agentrt::schema
