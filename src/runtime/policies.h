// runtime/policies.h: the policy of a workspace, read from the files each time it is asked for.
//
// The files are small, and a policy that was kept could be an old one; so nothing is kept.
// Thread rule: any thread, several at once.
#pragma once

#include <string>

#include "ports/hooks.h"
#include "ports/policies.h"
#include "runtime/config.h"
#include "schema/sandbox.h"

namespace agentrt::runtime {

class FilePolicies final : public ports::Policies {
 public:
  // `sources` as the runtime's own configuration was read; its workspace and trust do not count.
  FilePolicies(ConfigSources sources, TrustRecords& records);

  Result<schema::Policy> policy(const std::string& cwd) override;

 private:
  ConfigSources sources_;
  TrustRecords& records_;
};

// What a session is under, of all that a configuration says.
schema::Policy policy_of(const Config& config);

// What a hook may see and touch. One of the user or the host is their own program: it has the
// user's files and the network, as far as the host policy allows. One of the workspace has what a
// command of its turn has, since whoever may write the workspace may write the script that it runs.
// Neither sees anything of the runtime: its data with socket and tokens, its configuration. So
// nothing that a hook starts can answer for a person.
Result<schema::SandboxProfile> hook_profile_of(const Config& config,
                                               const ports::HookRequest& request,
                                               const std::string& data,
                                               const Environment& environment);

}  // namespace agentrt::runtime
