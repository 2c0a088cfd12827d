// state/turn_trace.h: the trace of a turn. Part of the session read model (state/session.h).
#pragma once

#include <boost/describe.hpp>

#include "base/ids.h"

namespace agentrt::state {

struct TurnTrace {
  TurnId turn;
  TraceId trace;
  bool joined = true;  // with a span for each of its requests, calls, processes and hooks

  bool operator==(const TurnTrace&) const = default;
};
BOOST_DESCRIBE_STRUCT(TurnTrace, (), (turn, trace, joined))

}  // namespace agentrt::state
