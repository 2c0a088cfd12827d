// cli/follow.h: following one turn from its submission to its end, for a person or as JSON lines.
#pragma once

#include "cli/attach.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "cli/views/turn_view.h"

namespace agentrt::cli {

struct FollowedTurn {
  SessionId session;
  ThreadId thread;
  TurnId turn;
};

// What happens when the turn waits for a person. ask: at this terminal; allow: yes to whatever
// policy lets a person approve; leave: it goes on waiting without us.
enum class OnAsk { ask, allow, leave };

// Prints the turn's events after `after` as they come and returns the exit code of its end. A
// stream that breaks is taken up again where it broke, at most kReconnectsMax times without
// progress. The first signal interrupts the turn and waits for its end; the second leaves at once.
Result<int> follow_turn(Output& output, Attachment& attachment, Signals& signals,
                        const FollowedTurn& turn, Sequence after, OnAsk on_ask);

// Why a turn does not go on, and what to do about it. Pure.
Error blocked_error(const FollowedTurn& turn, const TurnEnd& end);

inline constexpr int kReconnectsMax = 20;
inline constexpr int kReconnectPauseMs = 200;
// After the turn's last own event, how long to wait for what is told with it.
inline constexpr int kTailMs = 300;
// How often the line that says what is waited for is drawn anew.
inline constexpr int kTickMs = 120;

}  // namespace agentrt::cli
