// state/index.h: the index rows that a fact causes.
//
// Rows make any object findable by its id alone, list open work for start-up, and hold the windows
// of old turns. They are derived: index() is a pure function of the fact and the view after it. The
// store therefore writes them in the append's own transaction, and can rebuild them by folding the
// log again.
#pragma once

#include <string>
#include <vector>

#include "state/session.h"

namespace agentrt::state {

// The index row of one object; store::IndexRow has the same members.
struct ObjectRow {
  std::string kind;  // session, turn, task, process, output, action, grant, trust, folder_mode
  std::string id;
  std::string parent;  // of a turn or process: its thread
  Sequence first = 0;
  std::string status;
  bool open = false;
  // SessionSummary, TurnSnapshot, TaskSnapshot, ProcessSnapshot, OutputRecord, ActionSnapshot,
  // GrantRecord, TrustRecord or FolderModeRecord
  std::string record;

  bool operator==(const ObjectRow&) const = default;
};

// A rule that a person granted to every session of a workspace.
struct GrantRecord {
  std::string workspace;
  schema::PolicyRule rule;
  std::optional<Timestamp> at;  // of the decision; absent: stored by an older version
};
BOOST_DESCRIBE_STRUCT(GrantRecord, (), (workspace, rule, at))

// The permission mode that a person chose for the sessions of a workspace.
struct FolderModeRecord {
  std::string workspace;
  schema::PermissionMode mode = schema::PermissionMode::default_;
};
BOOST_DESCRIBE_STRUCT(FolderModeRecord, (), (workspace, mode))

// A person's decision to trust one version of a workspace file, or to revoke that trust.
struct TrustRecord {
  std::string workspace;
  std::string path;
  std::string digest;
  Timestamp at;                                     // of the decision
  std::optional<std::vector<std::string>> effects;  // that the person was shown
};
BOOST_DESCRIBE_STRUCT(TrustRecord, (), (workspace, path, digest, at, effects))

inline constexpr std::string_view kActionKind = "action";
inline constexpr std::string_view kGrantKind = "grant";
inline constexpr std::string_view kTrustKind = "trust";
inline constexpr std::string_view kFolderModeKind = "folder_mode";
inline constexpr std::string_view kInForce = "in_force";
inline constexpr std::string_view kWithdrawn = "withdrawn";

// REQUIRES: `fact` was the last one folded into `session`.
std::vector<ObjectRow> index(const Session& session, const schema::Fact& fact);

}  // namespace agentrt::state
