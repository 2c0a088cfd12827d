// ports/policies.h: the policy that a workspace is under, as its files say it now.
#pragma once

#include <string>

#include "base/result.h"
#include "schema/policy.h"

namespace agentrt::ports {

class Policies {
 public:
  virtual ~Policies() = default;
  // What holds for a session in `cwd`: host policy, the user's files and the workspace's. It only
  // reads: nothing is executed, connected to or changed. Blocks; called on a Worker.
  // invalid_params: a file is broken or beyond a limit; the sentence names file, line and key, and
  // no turn may run until it is mended. unavailable: the records of trust cannot be read.
  virtual Result<schema::Policy> policy(const std::string& cwd) = 0;
};

}  // namespace agentrt::ports
