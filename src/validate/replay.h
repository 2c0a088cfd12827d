// validate/replay.h: does the stream give the snapshot that someone shows beside it?
//
// The session's facts are folded up to the snapshot's asOfSequence, and the read model that they
// give is held against it, member by member. Members that only one side has are not compared: a
// snapshot may say more than the standard or less. Lists that are windows (turns, tasks, history,
// incidents) are compared where both name the same object.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "state/session.h"

namespace agentrt::validate {

inline constexpr std::size_t kDifferencesMax = 10;  // told one by one

class Replay {
 public:
  // invalid_params: the text is not a session's or a thread's snapshot.
  static Result<Replay> of(std::string snapshot);

  // One event of the stream; those of other sessions and behind the snapshot are passed over.
  void event(std::string_view text);
  // What differs, one sentence each; empty: nothing.
  std::vector<std::string> differences() const;

 private:
  std::string snapshot_;
  SessionId session_;
  ThreadId thread_;  // of a thread's snapshot; empty: it is a session's
  std::optional<Sequence> as_of_;
  std::map<std::string, std::string> turns_;  // records of the turns that the snapshot names
  state::Session view_;
  std::string unreadable_;  // why an event could not be folded; empty: all could
};

// Compares what both texts say; adds one sentence a difference, at most kDifferencesMax.
// REQUIRES: both are valid JSON.
void compare_json(std::string_view given, std::string_view replayed,
                  std::vector<std::string>& differences);

}  // namespace agentrt::validate
