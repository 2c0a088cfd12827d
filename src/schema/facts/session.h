// schema/facts/session.h: the lifecycle of a session and of its threads.
#pragma once

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

  bool operator==(const ThreadStarted&) const = default;
};
BOOST_DESCRIBE_STRUCT(ThreadStarted, (), (status, forked_from, params_hash))

// The thread stopped or resumed for a reason other than the outcome of a turn.
struct ThreadUpdated {
  static constexpr std::string_view kType = "thread.updated";
  using Scope = ThreadScope;
  Status status = Status::idle;
  std::optional<std::string> reason;  // restart, resumed
  std::optional<bool> resumable;
  std::optional<BootId> boot_id;  // the runtime that resumed the thread's turn

  bool operator==(const ThreadUpdated&) const = default;
};
BOOST_DESCRIBE_STRUCT(ThreadUpdated, (), (status, reason, resumable, boot_id))

}  // namespace agentrt::schema
