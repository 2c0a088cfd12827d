// cli/known_session.h: looks up the state of a session before a run uses it: its workspace, the
// thread to continue, and its open turn.
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

struct KnownChild {
  ThreadId thread_id;
};
BOOST_DESCRIBE_STRUCT(KnownChild, (), (thread_id))

struct KnownSession {
  Sequence as_of_sequence = 0;  // 0: the session does not exist yet
  std::string cwd;
  std::vector<KnownThread> threads;
  std::vector<KnownThread> history;   // the newest turn
  std::vector<KnownChild> subagents;  // their threads are not continued

  bool exists() const { return as_of_sequence > 0; }
};
BOOST_DESCRIBE_STRUCT(KnownSession, (), (as_of_sequence, cwd, threads, history, subagents))

// Says that the session's turns work in its own folder, not in the current one.
std::string other_folder(std::string_view session, std::string_view its, std::string_view current);

Result<KnownSession> look_up(const Client& client, const std::optional<SessionId>& session);

// The thread to continue: kMainThread, or else the one used last.
ThreadId thread_to_use(const KnownSession& known);
// The same, but prefers a thread with an open turn.
ThreadId thread_at_work(const KnownSession& known);

// The thread that is named, or that of the turn that is named, or the one used last.
Result<ThreadId> thread_of(const Client& client, const SessionId& session,
                           const std::optional<std::string>& thread,
                           const std::optional<std::string>& turn);

// A turn of the thread that has started and not ended.
struct OpenTurn {
  FollowedTurn turn;
  Sequence before = 0;     // the sequence before its first fact
  bool stands = false;     // it waits for a person to act
  bool resumable = false;  // a person can resume it
  bool no_model = false;   // no usable model
};
Result<std::optional<OpenTurn>> open_turn(const Client& client, const SessionId& session,
                                          const ThreadId& thread);
// Resumes the turn.
Result<void> resume(const Client& client, const FollowedTurn& turn);
Result<void> interrupt(const Client& client, const FollowedTurn& turn);

inline constexpr std::string_view kMainThread = "main";

}  // namespace agentrt::cli
