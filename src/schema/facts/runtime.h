// schema/facts/runtime.h: facts about the runtime itself: snapshots, repairs, warnings.
#pragma once

#include "schema/channels.h"
#include "schema/scope.h"
#include "schema/values.h"

namespace agentrt::schema {

// A snapshot of the session was stored in the same commit.
struct SnapshotUpdated {
  static constexpr std::string_view kType = "snapshot.updated";
  using Scope = SessionScope;
  Sequence as_of_sequence = 0;
  std::uint64_t fold_version = 0;

  bool operator==(const SnapshotUpdated&) const = default;
};
BOOST_DESCRIBE_STRUCT(SnapshotUpdated, (), (as_of_sequence, fold_version))

// The stored snapshot was unusable, and the session was rebuilt from the log; or a client cannot
// get some events, and continues from a snapshot.
struct SnapshotRepaired {
  static constexpr std::string_view kType = "snapshot.repaired";
  using Scope = SessionScope;
  Sequence as_of_sequence = 0;
  std::string reason;            // fold_version, damaged, missing, replay_unavailable
  std::optional<ReplayGap> gap;  // of replay_unavailable

  bool operator==(const SnapshotRepaired&) const = default;
};
BOOST_DESCRIBE_STRUCT(SnapshotRepaired, (), (as_of_sequence, reason, gap))

struct RuntimeWarning {
  static constexpr std::string_view kType = "runtime.warning";
  using Scope = SessionScope;
  std::string code;  // process_found, input_refused
  std::string message;
  std::optional<BootId> boot_id;  // the runtime that now monitors the process

  bool operator==(const RuntimeWarning&) const = default;
};
BOOST_DESCRIBE_STRUCT(RuntimeWarning, (), (code, message, boot_id))

struct RuntimeError {
  static constexpr std::string_view kType = "runtime.error";
  using Scope = SessionScope;
  std::string code;
  std::string message;

  bool operator==(const RuntimeError&) const = default;
};
BOOST_DESCRIBE_STRUCT(RuntimeError, (), (code, message))

}  // namespace agentrt::schema
