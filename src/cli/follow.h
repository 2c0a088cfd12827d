// cli/follow.h: follows one turn from its submission to its end, printing text or JSON lines.
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

// How to handle a turn that waits for a person. ask: prompt at this terminal; allow: approve it
// once; refuse: deny it with a reason, since nobody can be asked; leave: exit, and let the turn
// keep waiting.
enum class Answering { ask, allow, refuse, leave };
struct OnAsk {
  Answering ordinary = Answering::leave;
  Answering outside = Answering::leave;  // a command that is to leave the sandbox
};

// Prints the turn's events after `after` as they arrive and returns the exit code for its outcome.
// Reconnects a broken stream where it ended, at most kReconnectsMax times without progress. The
// first Ctrl-C interrupts the turn and waits for its end; the second exits at once. SIGTERM and
// SIGHUP (the terminal is closed) exit at once and leave the turn and its question as they are.
Result<int> follow_turn(Output& output, Attachment& attachment, Signals& signals,
                        const FollowedTurn& turn, Sequence after, OnAsk on_ask);

// Explains why a turn failed and how to continue its session. The code tells a program what kind of
// failure it was. Pure.
Error failed_error(const FollowedTurn& turn, const TurnEnd& end);
// The turn ended, but calls that needed a person were not made. Pure.
Error unapproved_error(const FollowedTurn& turn, std::size_t calls);
// Explains why a turn is blocked and how to proceed. Pure.
Error blocked_error(const FollowedTurn& turn, const TurnEnd& end);

inline constexpr int kReconnectsMax = 20;
inline constexpr int kReconnectPauseMs = 200;
// How long to wait for related events after the turn's own last event.
inline constexpr int kTailMs = 300;
// How often the status line is redrawn.
inline constexpr int kTickMs = 120;

}  // namespace agentrt::cli
