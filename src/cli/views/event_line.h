// cli/views/event_line.h: one event on one line, for `agentrt events` at a terminal.
#pragma once

#include <cstddef>
#include <string>

#include "cli/views/envelope.h"
#include "cli/views/terminal.h"

namespace agentrt::cli {

// "   12  14:03:07.120  turn.completed  status=completed durationMs=120 …", truncated to `width`
// characters. Pure. Accepts any payload, also of types that this build does not know.
std::string event_line(const Envelope& event, std::size_t width, Colour colour);

}  // namespace agentrt::cli
