// schema/facts/session.h: the lifecycle of a session and of its threads.
#pragma once

#include "schema/rollback.h"
#include "schema/scope.h"
#include "schema/values.h"

namespace agentrt::schema {

struct SessionCreated {
  static constexpr std::string_view kType = "session.created";
  using Scope = SessionScope;
  std::optional<std::string> title;
  std::string cwd;  // the workspace; fixed for the lifetime of the session
  std::optional<std::vector<std::string>> additional_roots;
  std::optional<Json> metadata;
  std::optional<std::string> params_hash;  // of the create_session that chose the id

  bool operator==(const SessionCreated&) const = default;
};
BOOST_DESCRIBE_STRUCT(SessionCreated, (), (title, cwd, additional_roots, metadata, params_hash))

// Only changed members are present.
struct SessionUpdated {
  static constexpr std::string_view kType = "session.updated";
  using Scope = SessionScope;
  std::optional<std::string> title;
  std::optional<Json> metadata;
  std::optional<bool> archived;

  bool operator==(const SessionUpdated&) const = default;
};
BOOST_DESCRIBE_STRUCT(SessionUpdated, (), (title, metadata, archived))

struct ThreadStarted {
  static constexpr std::string_view kType = "thread.started";
  using Scope = ThreadScope;
  Status status = Status::idle;
  // The conversation of the thread begins with that of another one, up to this point.
  std::optional<ForkPoint> forked_from = {};
  std::optional<std::string> params_hash = {};  // of the fork_thread that chose the id
  // Of a fork: the parts of other threads that its conversation begins with, oldest first, and the
  // compaction that was in force at that point.
  std::optional<std::vector<InheritedPart>> inherited = {};
  std::optional<ContextBoundary> context_boundary = {};

  bool operator==(const ThreadStarted&) const = default;
};
BOOST_DESCRIBE_STRUCT(ThreadStarted, (),
                      (status, forked_from, params_hash, inherited, context_boundary))

// The thread stopped or resumed for a reason other than the outcome of a turn.
struct ThreadUpdated {
  static constexpr std::string_view kType = "thread.updated";
  using Scope = ThreadScope;
  Status status = Status::idle;
  std::optional<std::string> reason;  // restart, resumed, closed, rested, returned
  std::optional<bool> resumable;
  std::optional<BootId> boot_id;  // the runtime that resumed the thread's turn
  // Of `returned`: the record of the thread, which rested outside the view.
  std::optional<Json> thread = {};

  bool operator==(const ThreadUpdated&) const = default;
};
BOOST_DESCRIBE_STRUCT(ThreadUpdated, (), (status, reason, resumable, boot_id, thread))

}  // namespace agentrt::schema
