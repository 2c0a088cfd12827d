// kernel/turn_messages.h: one turn of the log as the messages a model is given: its answers with
// the calls they made, and what became of each call.
//
// Every call has a result, as providers demand it: one that has none in the log gets a sentence
// that says so. A result is the preview that the log has, and the ref behind which the rest is.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ports/models.h"
#include "schema/facts.h"
#include "store/store.h"

namespace agentrt::kernel {

struct TurnMessages {
  std::vector<ports::Message> messages;   // an assistant's and tools', in order
  std::vector<ports::OfferedTool> tools;  // that the turn may call
  Sequence ended = 0;                     // where the turn failed or was cancelled; 0: nowhere
};

// Where in the log the turn's facts are, and how many facts may be looked at for them.
struct TurnRange {
  SessionId session;
  TurnId turn;
  Sequence first = 0;
  Sequence last = 0;  // 0: up to the newest
  std::size_t facts_max = 0;
};

// Blocks; called on a worker. limit_exceeded: more facts lie in the range than may be looked at.
Result<TurnMessages> read_turn(store::Store& store, const TurnRange& range);

// About how much of a request a message makes up.
std::size_t size_of(const ports::Message& message);

// Cuts the oldest results down to a sentence until all messages have at most `bytes_max`, or none
// is left to cut. Returns how many were cut.
std::size_t shorten(std::vector<ports::Message>& messages, std::size_t bytes_max);

}  // namespace agentrt::kernel
