// schema/sandbox.h: the sandbox profile requested for a command.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schema/codec.h"
#include "schema/statuses.h"

namespace agentrt::schema {

BOOST_DEFINE_ENUM_CLASS(CommandNetwork, none, host)

struct ProcessLimits {
  std::uint64_t processes = 512;
  std::uint64_t open_files = 4'096;
  std::uint64_t tmp_bytes = 512 << 20;

  bool operator==(const ProcessLimits&) const = default;
};
BOOST_DESCRIBE_STRUCT(ProcessLimits, (), (processes, open_files, tmp_bytes))

struct SandboxProfile {
  SandboxMode mode = SandboxMode::workspace_write;
  std::string cwd;
  std::vector<std::string> roots;  // writable, or read-only in mode read_only
  // read-only, whether or not they exist; a trailing "/" marks a folder
  std::vector<std::string> protected_paths;
  std::vector<std::string> hidden_paths;
  CommandNetwork network = CommandNetwork::none;
  std::vector<std::string> environment;  // NAME=VALUE
  ProcessLimits process_limits;
  bool report_writes = false;  // reports attempts to write elsewhere; advisory

  bool operator==(const SandboxProfile&) const = default;
};
BOOST_DESCRIBE_STRUCT(SandboxProfile, (),
                      (mode, cwd, roots, protected_paths, hidden_paths, network, environment,
                       process_limits, report_writes))

}  // namespace agentrt::schema
