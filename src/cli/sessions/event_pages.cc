#include "cli/sessions/event_pages.h"

#include <charconv>

#include "cli/views/session_view.h"

namespace agentrt::cli {

Result<EventPage> read_events(const Client& client, const schema::ListEvents& params) {
  TRY_ASSIGN(const std::string reply, client.call("list_events", schema::to_json(params)));
  TRY_ASSIGN(const ListReply list, read_list(reply));
  EventPage page;
  for (const schema::Json& row : list.data) {
    TRY_ASSIGN(Envelope event, read_envelope(row.text));
    page.events.push_back(std::move(event));
  }
  if (!list.next_cursor) return page;
  Sequence next = 0;
  const std::string& cursor = *list.next_cursor;
  (void)std::from_chars(cursor.data(), cursor.data() + cursor.size(), next);
  if (next > params.after.value_or(0)) page.next = next;
  return page;
}

}  // namespace agentrt::cli
