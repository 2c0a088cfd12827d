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

Result<bool> follow_turn(const Client& client, Signals& signals, const SessionId& session,
                         const TurnId& turn, Sequence after, const TakeEvent& take) {
  constexpr int kPollMs = 100;
  schema::ListEvents params;
  params.session_id = session;
  params.after = after;
  for (;;) {
    TRY_ASSIGN(const EventPage page, read_events(client, params));
    for (const Envelope& event : page.events) {
      params.after = event.sequence;
      if (event.turn_id != turn) continue;
      if (const auto payload = schema::read_payload(event.type, event.payload.text))
        TRY(take(event, *payload));
      if (event.type == schema::TurnCompleted::kType || event.type == schema::TurnFailed::kType)
        return true;
    }
    if (page.next) continue;
    signals.wait(kPollMs);
    if (signals.count() > 0) return false;
  }
}

}  // namespace agentrt::cli
