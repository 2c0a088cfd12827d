// config/policies.h: the policy of a workspace according to the current content of its files.
//
// A cached policy is used only while all file marks (file_marks.h) and the trusted files are
// unchanged; otherwise all files are read again. Callable from several threads at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/file_marks.h"
#include "ports/hooks.h"
#include "ports/policies.h"
#include "schema/sandbox.h"

namespace agentrt::config {

inline constexpr std::size_t kPoliciesKeptMax = 64;  // workspaces; the cache is cleared when full

class FilePolicies final : public ports::Policies {
 public:
  using WallClock = std::function<std::int64_t()>;  // milliseconds
  // `sources`: as for the runtime's own configuration; its workspace and trust are ignored.
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
  mutable std::mutex mutex_;          // guards the members below
  std::map<std::string, Kept> kept_;  // by workspace
  std::uint64_t readings_ = 0;
};

// The part of a configuration that applies to a session.
schema::Policy policy_of(const Config& config);

// The sandbox profile of a hook. A hook of the user or the host is their own program: it may access
// the user's files and the network, within the limits of the host policy. A hook of the workspace
// has the profile of a command in its turn, since commands can modify the scripts it runs. Neither
// can access the runtime's data (socket, tokens) or configuration, so no hook can approve in place
// of a person.
Result<schema::SandboxProfile> hook_profile_of(const Config& config,
                                               const ports::HookRequest& request,
                                               const std::string& data,
                                               const Environment& environment,
                                               Environment variables = {});

}  // namespace agentrt::config
