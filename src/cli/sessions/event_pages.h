// cli/sessions/event_pages.h: reads the events of a session page by page.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "cli/client.h"
#include "cli/signals.h"
#include "cli/views/envelope.h"
#include "schema/commands.h"

namespace agentrt::cli {

struct EventPage {
  std::vector<Envelope> events;
  std::optional<Sequence> next;  // continue after this event; nullopt: it was the last page
};

Result<EventPage> read_events(const Client& client, const schema::ListEvents& params);

// Gives `take` the events of a turn after `after` until the turn has ended. False: a signal arrived
// first.
using TakeEvent = std::function<Result<void>(const Envelope&, const schema::Payload&)>;
Result<bool> follow_turn(const Client& client, Signals& signals, const SessionId& session,
                         const TurnId& turn, Sequence after, const TakeEvent& take);

}  // namespace agentrt::cli
