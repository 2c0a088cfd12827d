// schema/environment.h: the environment of a turn's commands. It is recorded with each turn and
// returned by get_execution_environment.
#pragma once

#include "schema/sandbox.h"

namespace agentrt::schema {

// A summary of what commands may access; `agentrt sandbox --explain` prints the complete profile.
struct EnvironmentSandbox {
  SandboxMode mode = SandboxMode::workspace_write;
  std::vector<std::string> read_roots;
  std::vector<std::string> write_roots;

  bool operator==(const EnvironmentSandbox&) const = default;
};
BOOST_DESCRIBE_STRUCT(EnvironmentSandbox, (), (mode, read_roots, write_roots))

struct ExecutionEnvironment {
  std::string workspace_id;  // derived from the folder; equal in all sessions of that folder
  std::string cwd;
  std::vector<std::string> additional_roots;
  std::string shell;
  std::string os;
  std::string arch;
  std::string env_ref;                 // env:sha256:…, a digest of names and values
  std::vector<std::string> env_names;  // the variables that commands inherit
  EnvironmentSandbox sandbox_profile;
  CommandNetwork network_profile = CommandNetwork::none;
  ProcessLimits resource_limits;

  bool operator==(const ExecutionEnvironment&) const = default;
};
BOOST_DESCRIBE_STRUCT(ExecutionEnvironment, (),
                      (workspace_id, cwd, additional_roots, shell, os, arch, env_ref, env_names,
                       sandbox_profile, network_profile, resource_limits))

// The environment as a fact records it: complete, or equal to that of an earlier fact.
struct RecordedEnvironment {
  std::optional<std::string> same_as = {};  // log:N, the last complete one of the thread
  std::optional<std::string> digest = {};
  std::optional<std::string> workspace_id = {};
  std::optional<std::string> cwd = {};
  std::optional<std::vector<std::string>> additional_roots = {};
  std::optional<std::string> shell = {};
  std::optional<std::string> os = {};
  std::optional<std::string> arch = {};
  std::optional<std::string> env_ref = {};
  std::optional<std::vector<std::string>> env_names = {};
  std::optional<EnvironmentSandbox> sandbox_profile = {};
  std::optional<CommandNetwork> network_profile = {};
  std::optional<ProcessLimits> resource_limits = {};

  bool operator==(const RecordedEnvironment&) const = default;
};
BOOST_DESCRIBE_STRUCT(RecordedEnvironment, (),
                      (same_as, digest, workspace_id, cwd, additional_roots, shell, os, arch,
                       env_ref, env_names, sandbox_profile, network_profile, resource_limits))

RecordedEnvironment recorded(const ExecutionEnvironment& environment);
// REQUIRES: it is complete (without same_as). Members that an older log lacks are empty.
ExecutionEnvironment complete(const RecordedEnvironment& recorded);

// What the model knows about its surroundings, one line per member. Everything is text, so that a
// later version can word it differently and still find out which of these lines have changed.
struct Surroundings {
  std::string date;  // YYYY-MM-DD, UTC
  std::string os;
  std::string shell;
  std::string folder;
  std::optional<std::string> git;  // absent: the folder is not in a repository
  std::string sandbox;
  std::string network;
  std::string mode;
  std::string approvals;

  bool operator==(const Surroundings&) const = default;
};
BOOST_DESCRIBE_STRUCT(Surroundings, (),
                      (date, os, shell, folder, git, sandbox, network, mode, approvals))

}  // namespace agentrt::schema
