// validate/replay.h: checks that a stream of events yields a given snapshot.
//
// Folds the session's facts up to the snapshot's asOfSequence and compares the resulting read model
// with the snapshot, member by member. Members that only one side has are not compared: a snapshot
// may hold more than the standard or less. Lists that are windows (threads, turns, tasks, jobs,
// history, incidents) are compared only for objects that both sides list.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "state/session.h"

namespace agentrt::validate {

inline constexpr std::size_t kDifferencesMax = 10;  // reported individually

class Replay {
 public:
  // Fails with invalid_params if the text is not a snapshot of a session or a thread.
  static Result<Replay> of(std::string snapshot);

  // Processes one event; ignores events of other sessions and events after the snapshot.
  void event(std::string_view text);
  // One sentence per difference; empty if there is none.
  std::vector<std::string> differences() const;

 private:
  std::string snapshot_;
  SessionId session_;
  ThreadId thread_;  // of a thread's snapshot; empty for a session's
  std::optional<Sequence> as_of_;
  std::map<std::string, std::string> turns_;  // records of the turns that the snapshot lists
  state::Session view_;
  std::string unreadable_;  // why an event could not be folded; empty if all could
};

// Compares the members that both texts have. Adds one sentence per difference, at most
// kDifferencesMax. REQUIRES: both are valid JSON.
void compare_json(std::string_view given, std::string_view replayed,
                  std::vector<std::string>& differences);

}  // namespace agentrt::validate
