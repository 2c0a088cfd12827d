// cli/known_session.h: what a run finds of its session before it asks anything of it: where it
// works, which thread goes on, and the turn that was left unfinished.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/client.h"
#include "cli/follow.h"
#include "schema/snapshots.h"

namespace agentrt::cli {

struct KnownThread {
  ThreadId thread_id;
  std::optional<TurnId> active_turn_id;
};
BOOST_DESCRIBE_STRUCT(KnownThread, (), (thread_id, active_turn_id))

struct KnownSession {
  Sequence as_of_sequence = 0;  // 0: there is no such session yet
  std::string cwd;
  std::vector<KnownThread> threads;
  std::vector<KnownThread> history;  // the newest turn

  bool exists() const { return as_of_sequence > 0; }
};
BOOST_DESCRIBE_STRUCT(KnownSession, (), (as_of_sequence, cwd, threads, history))

Result<KnownSession> look_up(const Client& client, const std::optional<SessionId>& session);

// Going on with a session means its thread kMainThread, or the one used last where there is none.
ThreadId thread_to_use(const KnownSession& known);
// The same, but a thread with a turn before all others.
ThreadId thread_at_work(const KnownSession& known);

// A turn of the thread that has begun and not ended.
struct OpenTurn {
  FollowedTurn turn;
  Sequence before = 0;     // its first fact comes after this one
  bool stands = false;     // until a person does something
  bool resumable = false;  // which may be to resume it
  bool no_model = false;   // there is none that it could ask
};
Result<std::optional<OpenTurn>> open_turn(const Client& client, const SessionId& session,
                                          const ThreadId& thread);
// Sets it to work again.
Result<void> resume(const Client& client, const FollowedTurn& turn);
Result<void> interrupt(const Client& client, const FollowedTurn& turn);

inline constexpr std::string_view kMainThread = "main";

}  // namespace agentrt::cli
