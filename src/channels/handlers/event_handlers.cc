#include <algorithm>

#include <fmt/format.h>

#include "channels/desk/sse_peer.h"
#include "channels/handlers/handlers.h"
#include "channels/request_checks.h"
#include "schema/json.h"

namespace agentrt::channels {
namespace {

// Starts at the end of the log.
constexpr std::string_view kEnd = "end";

// The start position: `after` or `cursor`; Last-Event-ID overrides both.
Result<std::optional<std::string>> place_of(const Request& request) {
  const std::string* const after = find(request.query, "after");
  const std::string* const cursor = find(request.query, "cursor");
  if (after && cursor)
    return fail(Code::invalid_params, "after and cursor are alternatives; send only one of them");
  const auto& last_event_id = request.head.last_event_id;
  if (last_event_id && !last_event_id->empty()) return *last_event_id;
  if (after) return *after;
  if (cursor) return *cursor;
  return std::nullopt;
}

Result<std::optional<GenerationId>> generation_of(const Request& request) {
  const std::string* const text = find(request.query, "generation");
  if (!text) return std::nullopt;
  if (!well_formed_id(*text))
    return fail(Code::invalid_params, "generation: not a valid generation");
  return GenerationId{*text};
}

// types=a,b: the only event types that the caller wants.
Result<std::vector<std::string>> types_of(const Request& request) {
  const std::string* const text = find(request.query, "types");
  if (!text) return std::vector<std::string>{};
  return read_types(*text);
}

Result<StreamStart> session_start(const Request& request) {
  if (!well_formed_id(request.ids[0]))
    return fail(Code::invalid_params, "an id has 1 to 128 of the characters A-Z a-z 0-9 . _ : -");
  StreamStart start;
  start.session = SessionId{request.ids[0]};
  TRY_ASSIGN(start.generation, generation_of(request));
  TRY_ASSIGN(start.types, types_of(request));
  TRY_ASSIGN(const auto place, place_of(request));
  if (!place) return start;
  start.from_end = *place == kEnd;
  if (start.from_end) return start;
  TRY_ASSIGN(start.after, read_number("after", *place));
  return start;
}

Result<StreamStart> everything_start(const Request& request) {
  StreamStart start;
  TRY_ASSIGN(start.generation, generation_of(request));
  TRY_ASSIGN(start.types, types_of(request));
  TRY_ASSIGN(const auto place, place_of(request));
  if (!place || place->empty() || *place == "0") return start;
  start.from_end = *place == kEnd;
  if (start.from_end) return start;
  TRY_ASSIGN(const Cursor cursor, read_cursor(*place));
  if (start.generation && *start.generation != cursor.generation)
    return fail(Code::invalid_params, "generation: the cursor belongs to a different generation");
  start.after = cursor.position;
  start.generation = cursor.generation;
  return start;
}

// {"data": […], "nextCursor"?, "cursor", "generation"}. `cursor` is the end of the page, even if
// nothing follows yet.
std::string render_page(const ports::Page& page, const StreamStart& start,
                        const GenerationId& generation) {
  std::string out = R"({"data":[)";
  for (const ports::FeedEvent& event : page.events) {
    if (&event != page.events.data()) out += ',';
    schema::write_event(out, event.event);
  }
  const std::string cursor =
      start.session ? fmt::format("{}", page.reached) : write_cursor(page.reached, generation);
  out += ']';
  if (page.more) fmt::format_to(std::back_inserter(out), R"(,"nextCursor":"{}")", cursor);
  fmt::format_to(std::back_inserter(out), R"(,"cursor":"{}","generation":"{}"}})", cursor,
                 generation.text());
  out.shrink_to_fit();  // it stays in memory until the peer has read it
  return out;
}

void answer_page(Services& services, const ExchangePtr& exchange,
                 ports::Authorized<StreamStart> allowed) {
  const auto limit = find_number(exchange->request.query, "limit");
  if (!limit) return exchange->respond(error_response(limit.error()));
  const std::uint64_t wanted = limit->value_or(kEventsPageDefault);
  if (wanted == 0)
    return exchange->respond(
        error_response({Code::invalid_params, "limit: expected at least 1", {}}));
  const StreamStart start = allowed.request();
  services.hub.read(std::move(allowed), {std::min(wanted, kEventsPageMax), kEventsPageBytesMax},
                    [start, inbox = services.inbox, generation = services.hub.generation(),
                     waiting = std::weak_ptr(exchange)](Result<ports::Page> page) {
                      // Rendered here, on the reader's thread, to spare the network thread.
                      Result<std::string> body = std::unexpected(Error{});
                      if (page)
                        body = render_page(*page, start, generation);
                      else
                        body = std::unexpected(std::move(page).error());
                      inbox->post([waiting, body = std::move(body)]() mutable {
                        const auto asker = waiting.lock();
                        if (!asker) return;
                        Response response = reply_response(std::move(body));
                        response.only_reads = true;
                        asker->respond(std::move(response));
                      });
                    });
}

void answer_stream(Services& services, const ExchangePtr& exchange,
                   ports::Authorized<StreamStart> allowed) {
  SseHub& hub = services.hub;
  hub.open(std::move(allowed), [&hub, waiting = std::weak_ptr(exchange)](
                                   Result<std::shared_ptr<Subscriber>> subscriber) {
    const auto asker = waiting.lock();
    if (asker && subscriber) return asker->stream(*std::move(subscriber));
    if (asker) return asker->respond(error_response(subscriber.error()));
    if (subscriber) hub.close(**subscriber);
  });
}

// Opens the stream of a channel whose transport is server-sent events. It starts where the client
// says, else after what it acknowledged.
void answer_channel_stream(Services& services, const ExchangePtr& exchange, StreamStart start,
                           const ChannelId& id) {
  const auto refuse = [&](Code code, std::string message) {
    exchange->respond(error_response({code, std::move(message), {}}));
  };
  const AttachmentPtr attachment = services.desk.find(id, *exchange->identity);
  if (!attachment || attachment->session != start.session)
    return refuse(Code::not_found,
                  "channelId: the session has no connected channel with this id: call "
                  "connect_channel with transport sse, or reconnect_channel");
  if (!attachment->sse)
    return refuse(Code::conflict,
                  "channelId: the transport of this channel is another one: call connect_channel "
                  "with transport sse");
  if (!start.types.empty() || start.from_end)
    return refuse(Code::invalid_params, "types, cursor=end: not allowed with channelId");
  const auto place = place_of(exchange->request);
  if (place && !*place) start.after = std::max(attachment->after, attachment->acknowledged);
  start.through = attachment->through();
  auto allowed = Authorization::events(exchange->identity.get(), std::move(start));
  if (!allowed) return exchange->respond(error_response(allowed.error()));
  SseHub& hub = services.hub;
  hub.open(*std::move(allowed), [&services, &hub, to = std::weak_ptr(attachment),
                                 waiting = std::weak_ptr(exchange)](
                                    Result<std::shared_ptr<Subscriber>> subscriber) {
    const auto asker = waiting.lock();
    const auto attachment = to.lock();
    if (!subscriber) {
      if (asker) asker->respond(error_response(subscriber.error()));
      return;
    }
    if (!asker || !attachment) {
      hub.close(**subscriber);
      if (asker)
        asker->respond(error_response({Code::conflict, "the channel was disconnected", {}}));
      return;
    }
    attachment->sse->open(*subscriber);
    attachment->asked.clear();  // what an earlier stream carried may be lost
    asker->stream(*std::move(subscriber));
    services.desk.ready(*attachment);
  });
}

void answer_events(Services& services, const ExchangePtr& exchange, Result<StreamStart> start) {
  if (!start) return exchange->respond(error_response(start.error()));
  auto allowed = Authorization::events(exchange->identity.get(), *std::move(start));
  if (!allowed) return exchange->respond(error_response(allowed.error()));
  const Head& head = exchange->request.head;
  if (head.method == Method::get && accepts_stream(head.accept))
    return answer_stream(services, exchange, *std::move(allowed));
  answer_page(services, exchange, *std::move(allowed));
}

}  // namespace

void get_session_events(Services& services, const ExchangePtr& exchange) {
  if (const std::string* const channel = find(exchange->request.query, "channelId")) {
    auto start = session_start(exchange->request);
    if (start && !well_formed_id(*channel))
      start = fail(Code::invalid_params, "channelId: not the id of a channel");
    if (start && !accepts_stream(exchange->request.head.accept))
      start = fail(Code::invalid_params,
                   "channelId: only for a stream: send Accept: text/event-stream");
    if (!start) return exchange->respond(error_response(start.error()));
    return answer_channel_stream(services, exchange, *std::move(start), ChannelId{*channel});
  }
  answer_events(services, exchange, session_start(exchange->request));
}

void get_all_events(Services& services, const ExchangePtr& exchange) {
  answer_events(services, exchange, everything_start(exchange->request));
}

}  // namespace agentrt::channels
