// cli/sessions/event_pages.h: reads the events of a session page by page.
#pragma once

#include <optional>
#include <vector>

#include "cli/client.h"
#include "cli/views/envelope.h"
#include "schema/commands.h"

namespace agentrt::cli {

struct EventPage {
  std::vector<Envelope> events;
  std::optional<Sequence> next;  // continue after this event; nullopt: it was the last page
};

Result<EventPage> read_events(const Client& client, const schema::ListEvents& params);

}  // namespace agentrt::cli
