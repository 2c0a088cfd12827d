// runtime/policies.h: the policy of a workspace, as its files are when it is asked for.
//
// A policy that was kept could be an old one, so it counts only for as long as every file shows the
// same marks (file_marks.h) and people trust the same files; else all of them are read again.
// Thread rule: any thread, several at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ports/hooks.h"
#include "ports/policies.h"
#include "runtime/config.h"
#include "runtime/file_marks.h"
#include "schema/sandbox.h"

namespace agentrt::runtime {

inline constexpr std::size_t kPoliciesKeptMax = 64;  // workspaces; then it begins anew

class FilePolicies final : public ports::Policies {
 public:
  using WallClock = std::function<std::int64_t()>;  // milliseconds
  // `sources` as the runtime's own configuration was read; its workspace and trust do not count.
  FilePolicies(ConfigSources sources, TrustRecords& records, WallClock now);

  Result<schema::Policy> policy(const std::string& cwd) override;

  std::uint64_t readings() const;  // how often files were read

 private:
  struct Kept {
    std::vector<TrustRecord> trusted;
    std::vector<FileMark> marks;
    schema::Policy policy;
  };
  std::optional<schema::Policy> kept_of(const ConfigSources& sources,
                                        const std::vector<FileMark>& marks);
  void keep(const ConfigSources& sources, std::vector<FileMark> marks, std::int64_t now,
            const schema::Policy& policy);

  const ConfigSources sources_;
  TrustRecords& records_;
  const WallClock now_;
  mutable std::mutex mutex_;          // guards what follows
  std::map<std::string, Kept> kept_;  // by workspace
  std::uint64_t readings_ = 0;
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
