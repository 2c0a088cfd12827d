// channels/protocols/turn_result.h: a turn as its caller over another protocol wants it: its
// status, the whole answer, and what waits for a decision. Network thread only.
#pragma once

#include <string>
#include <vector>

#include "channels/protocols/calls.h"
#include "schema/action_snapshot.h"

namespace agentrt::channels {

// Beyond it an answer is cut, and ends with the ref of its output.
inline constexpr std::size_t kAnswerBytesMax = std::size_t{256} << 10;

struct TurnResult {
  SessionId session;
  schema::TurnSnapshot turn;
  std::string text;                     // the newest answer of the model; empty: there is none yet
  std::optional<std::string> text_ref;  // the output that contains the answer, if it is cut
  std::vector<schema::ActionSnapshot> actions;  // open, of the turn and of its subagents

  bool ended() const;
};

using TurnDone = std::move_only_function<void(Result<TurnResult>)>;
// Errors: those of get_turn.
void read_turn(Services& services, const ActingAs& as, const SessionId& session, const TurnId& turn,
               TurnDone done);

// The open actions of the session. Errors: those of list_actions.
using ActionsDone = std::move_only_function<void(Result<std::vector<schema::ActionSnapshot>>)>;
void read_actions(Services& services, const ActingAs& as, const SessionId& session,
                  ActionsDone done);

// How a person who may decide answers the action elsewhere.
std::string how_to_answer(const schema::ActionSnapshot& action);

}  // namespace agentrt::channels
