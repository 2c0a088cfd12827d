#include "channels/protocols/turn_result.h"

#include <charconv>

#include <fmt/format.h>

#include "channels/protocols/output_calls.h"
#include "schema/wire_event.h"

namespace agentrt::channels {
namespace {

constexpr std::string_view kLogRef = "log:";
constexpr std::uint64_t kActionsMax = 1'000;

struct EventPage {
  std::vector<schema::Json> data;
};
BOOST_DESCRIBE_STRUCT(EventPage, (), (data))

// A read in progress.
struct Reading {
  Services& services;
  ActingAs as;
  TurnResult out;
  TurnDone done;
};
using ReadingPtr = std::shared_ptr<Reading>;

// The sequence in "log:N".
std::optional<Sequence> sequence_in(std::string_view ref) {
  if (!ref.starts_with(kLogRef)) return std::nullopt;
  ref.remove_prefix(kLogRef.size());
  Sequence out = 0;
  const auto [end, error] = std::from_chars(ref.data(), ref.data() + ref.size(), out);
  if (error != std::errc{} || end != ref.data() + ref.size() || out == 0) return std::nullopt;
  return out;
}

void take_answer(TurnResult& out, const schema::Json& event) {
  const auto row = schema::read_event(event.text);
  if (!row) return;
  const auto fact = schema::decode(*row);
  const auto* const completed =
      fact ? std::get_if<schema::ModelCompleted>(&fact->payload) : nullptr;
  if (!completed) return;
  if (completed->text) out.text = *completed->text;
  if (!completed->text && completed->output_ref) out.text_ref = *completed->output_ref;
}

void read_open(const ReadingPtr& reading);

// The answer, if the fact does not contain it.
void read_long_text(const ReadingPtr& reading) {
  if (!reading->out.text_ref) return read_open(reading);
  read_output(reading->services, reading->as, *reading->out.text_ref, kAnswerBytesMax,
              [reading](Result<OutputBytes> output) {
                TurnResult& out = reading->out;
                if (output) {
                  out.text = std::string(schema::utf8_prefix(output->bytes, kAnswerBytesMax));
                  if (out.text.size() == output->size) out.text_ref.reset();
                }
                read_open(reading);
              });
}

void read_open(const ReadingPtr& reading) {
  read_actions(reading->services, reading->as, reading->out.session,
               [reading](Result<std::vector<schema::ActionSnapshot>> actions) {
                 if (!actions) return reading->done(std::unexpected(actions.error()));
                 TurnResult& out = reading->out;
                 for (schema::ActionSnapshot& action : *actions)
                   if (action.turn_id == out.turn.turn_id || action.subagent_id)
                     out.actions.push_back(std::move(action));
                 reading->done(std::move(out));
               });
}

void read_text(const ReadingPtr& reading) {
  TurnResult& out = reading->out;
  const auto at = sequence_in(out.turn.output_ref.value_or(""));
  if (out.turn.output_preview) out.text = *out.turn.output_preview;
  if (!at) return read_open(reading);
  schema::ListEvents events;
  events.session_id = out.session;
  events.after = *at - 1;
  events.limit = 1;
  call_text(reading->services, reading->as, std::move(events), [reading](Result<std::string> text) {
    EventPage page;
    if (text && schema::from_json(*text, page, schema::Unknown::ignore) && !page.data.empty())
      take_answer(reading->out, page.data.front());
    read_long_text(reading);
  });
}

}  // namespace

bool TurnResult::ended() const {
  using schema::Status;
  return turn.status == Status::completed || turn.status == Status::failed ||
         turn.status == Status::cancelled || turn.status == Status::timed_out;
}

void read_turn(Services& services, const ActingAs& as, const SessionId& session, const TurnId& turn,
               TurnDone done) {
  schema::GetTurn get;
  get.session_id = session;
  get.turn_id = turn;
  get.limit = 1;
  auto reading = std::make_shared<Reading>(Reading{services, as, {}, std::move(done)});
  call(services, as, std::move(get), [reading](Result<schema::GetTurnReply> reply) {
    if (!reply) return reading->done(std::unexpected(reply.error()));
    reading->out.session = reply->session_id;
    reading->out.turn = std::move(reply->turn);
    read_text(reading);
  });
}

void read_actions(Services& services, const ActingAs& as, const SessionId& session,
                  ActionsDone done) {
  schema::ListActions list;
  list.session_id = session;
  list.limit = kActionsMax;
  call_text(services, as, std::move(list),
            [done = std::move(done)](Result<std::string> text) mutable {
              const auto page = read_reply<ListPage>(text);
              if (!page) return done(std::unexpected(page.error()));
              std::vector<schema::ActionSnapshot> out;
              for (const schema::Json& row : page->data) {
                schema::ActionSnapshot action;
                if (schema::from_json(row.text, action, schema::Unknown::ignore))
                  out.push_back(std::move(action));
              }
              done(std::move(out));
            });
}

std::string how_to_answer(const schema::ActionSnapshot& action) {
  return fmt::format(
      "answer it with `agentrt approve {0}` or `agentrt deny {0}` on the machine of "
      "the runtime, or with respond_action",
      action.action_id.text());
}

}  // namespace agentrt::channels
