// ports/policies.h: the port that reads the policy that currently applies to a workspace from its
// configuration files.
#pragma once

#include <string>

#include "base/result.h"
#include "schema/policy.h"

namespace agentrt::ports {

class Policies {
 public:
  virtual ~Policies() = default;
  // The effective policy of a session in `cwd`: host policy, then the user's and the workspace's
  // files. Read-only: executes nothing, connects to nothing, changes nothing. Blocks; called on a
  // Worker. Errors: invalid_params: a file is invalid or exceeds a limit; the message names file,
  // line and key, and no turn may run until it is fixed. unavailable: the trust records cannot be
  // read.
  virtual Result<schema::Policy> policy(const std::string& cwd) = 0;
};

}  // namespace agentrt::ports
