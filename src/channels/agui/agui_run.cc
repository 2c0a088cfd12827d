#include "channels/agui/agui_run.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "channels/protocols/output_calls.h"
#include "schema/arguments.h"
#include "schema/json_loose.h"
#include "schema/wire_event.h"

namespace agentrt::channels {
namespace {

constexpr std::uint64_t kPage = 1'000;

struct EventPage {
  std::vector<schema::Json> data;
  std::optional<std::string> next_cursor;
};
BOOST_DESCRIBE_STRUCT(EventPage, (), (data, next_cursor))

struct Approval {
  bool approved = false;
};
BOOST_DESCRIBE_STRUCT(Approval, (), (approved))

Sequence number_in(const std::string& text) {
  Sequence out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

bool offers(const schema::ActionSnapshot& action, std::string_view decision) {
  return action.decisions &&
         std::ranges::find(*action.decisions, decision) != action.decisions->end();
}

// What the front end's answer means. Errors: invalid_params.
Result<schema::RespondAction> answer_of(const AguiAnswer& given,
                                        const schema::ActionSnapshot& action) {
  schema::RespondAction out;
  out.action_id = action.action_id;
  out.digest = action.digest;
  const bool permission = offers(action, "allow") && offers(action, "deny");
  if (given.cancelled) {
    out.decision = permission ? "deny" : offers(action, "decline") ? "decline" : "cancel";
    return out;
  }
  if (!given.payload)
    return fail(Code::invalid_params, fmt::format("resume: {} has no payload", given.interrupt_id));
  if (permission) {
    Approval approval;
    schema::Met met;
    if (!schema::read_loosely(given.payload->text, approval, met) || !met.has("approved"))
      return fail(Code::invalid_params, fmt::format("resume: the payload of {} must be "
                                                    "{{\"approved\": true or false}}",
                                                    given.interrupt_id));
    out.decision = approval.approved ? "allow" : "deny";
    return out;
  }
  if (action.schema)
    if (const auto wrong = schema::wrong_arguments(*action.schema, *given.payload))
      return fail(Code::invalid_params,
                  fmt::format("resume: the payload of {} does not fit its responseSchema: {}",
                              given.interrupt_id, *wrong));
  out.decision = offers(action, "accept") ? "accept" : "answer";
  out.payload = given.payload;
  return out;
}

}  // namespace

AguiRun::AguiRun(Services& services, ActingAs as, AguiInput input)
    : services_(services),
      as_(std::move(as)),
      input_(std::move(input)),
      session_(agui_session_of(as_.identity->id, input_.thread_id)),
      turn_(agui_turn_of(as_.identity->id, input_.thread_id, input_.run_id)),
      events_(input_, session_) {}

AguiRun::~AguiRun() {
  if (tap_) tap_->close();
}

void AguiRun::begin(Services& services, const ExchangePtr& exchange, AguiInput input) {
  const std::shared_ptr<AguiRun> run(new AguiRun(services, acting_as(*exchange), std::move(input)));
  services.protocols.waiting.add(run);
  run->out_ = SseOut::open(services, *exchange,
                           {.on_room =
                                [weak = std::weak_ptr(run)] {
                                  const auto self = weak.lock();
                                  if (self && self->tap_) self->tap_->resume();
                                },
                            .on_gone =
                                [weak = std::weak_ptr(run)](SseOut::Gone) {
                                  if (const auto self = weak.lock()) self->stop();
                                }});
  run->send({run->events_.started()});
  run->send(AguiEvents::ignored(run->input_));
  run->scan([weak = std::weak_ptr(run)] {
    if (const auto self = weak.lock()) self->scanned();
  });
}

void AguiRun::scan(std::function<void()> then) {
  schema::ListEvents list;
  list.session_id = session_;
  list.after = services_.protocols.agui.of(session_).scanned;
  list.limit = kPage;
  list.types = std::vector<std::string>{"turn.submitted"};
  call_text(services_, as_, std::move(list),
            [self = shared_from_this(), then = std::move(then)](Result<std::string> text) {
              if (self->ended_) return;
              if (!text && text.error().code == Code::not_found) return then();
              const auto page = read_reply<EventPage>(text);
              if (!page) return self->fail_with(page.error());
              AguiSession& known = self->services_.protocols.agui.of(self->session_);
              known.exists = true;
              for (const schema::Json& row : page->data) {
                const auto event = schema::read_event(row.text);
                const auto fact = event ? schema::decode(*event) : std::unexpected(event.error());
                if (!fact) continue;
                known.scanned = std::max(known.scanned, event->sequence);
                const auto* const submitted = std::get_if<schema::TurnSubmitted>(&fact->payload);
                AguiMetadata metadata;
                schema::Met met;
                if (submitted && submitted->metadata &&
                    schema::read_loosely(submitted->metadata->text, metadata, met) && metadata.agui)
                  known.take(event->sequence, fact->ids.turn_id, *metadata.agui);
              }
              if (!page->next_cursor) return then();
              known.scanned = std::max(known.scanned, number_in(*page->next_cursor));
              self->scan(then);
            });
}

void AguiRun::scanned() {
  const AguiSession& known = services_.protocols.agui.of(session_);
  if (const auto found = known.turns.find(turn_); found != known.turns.end())
    return repeat(found->second);
  if (input_.resume) return resume();
  for (std::size_t i = 0; i < input_.messages.size(); ++i)
    if (input_.messages[i].role == "user" && !known.messages.contains(input_.messages[i].id))
      fresh_.push_back(i);
  if (fresh_.empty())
    return fail_with({Code::invalid_params,
                      "there is neither a message that is new to this thread nor resume",
                      {}});
  if (!known.exists) return begin_turn();
  read_actions(
      services_, as_, session_,
      [self = shared_from_this()](Result<std::vector<schema::ActionSnapshot>> open) {
        if (self->ended_) return;
        if (!open) return self->fail_with(open.error());
        if (!open->empty())
          return self->fail_with({Code::conflict,
                                  fmt::format("a question is open ({}): answer it with resume",
                                              open->front().action_id.text()),
                                  {}});
        self->begin_turn();
      });
}

// The same run again: the same events, also after a restart.
void AguiRun::repeat(const AguiTurn& turn) {
  const auto digest = agui_digest(input_, turn.origin.message_ids);
  if (digest && *digest != turn.origin.digest)
    return fail_with({Code::invalid_params,
                      "runId: this run was begun with other messages; use a new runId",
                      {}});
  events_.of_turn(turn_);
  follow(turn.submitted);
}

void AguiRun::begin_turn() {
  schema::CreateSession create;
  create.session_id = session_;
  std::string metadata = R"({"agui":{"threadId":)";
  schema::write_string(metadata, input_.thread_id);
  create.metadata = schema::Json{metadata + "}}"};
  if (services_.protocols.agui.of(session_).exists) return store_part(0, 0);
  call(services_, as_, std::move(create),
       [self = shared_from_this()](const Result<schema::SessionReply>& reply) {
         if (self->ended_) return;
         if (!reply) return self->fail_with(reply.error());
         self->store_part(0, 0);
       });
}

// Bytes are stored before the turn that refers to them.
void AguiRun::store_part(std::size_t message, std::size_t part) {
  while (message < fresh_.size()) {
    const std::vector<AguiPart>& parts = input_.messages[fresh_[message]].parts;
    for (; part < parts.size(); ++part) {
      if (parts[part].media_type.empty()) {
        parts_.push_back({.type = schema::InputKind::text, .text = parts[part].text, .path = {}});
        continue;
      }
      return store_output(
          services_, as_, session_, parts[part].media_type, parts[part].bytes,
          [self = shared_from_this(), message, part](Result<std::string> ref) {
            if (self->ended_) return;
            if (!ref) return self->fail_with(ref.error());
            self->parts_.push_back(
                {.type = schema::InputKind::output, .text = {}, .path = {}, .ref = *ref});
            self->store_part(message, part + 1);
          });
    }
    ++message;
    part = 0;
  }
  submit();
}

void AguiRun::submit() {
  schema::SubmitTurn submit;
  submit.session_id = session_;
  submit.thread_id = ThreadId{"main"};
  submit.turn_id = turn_;
  submit.input = std::move(parts_);
  submit.options.emplace().resume = true;
  AguiOrigin origin{input_.run_id, {}, {}};
  for (const std::size_t index : fresh_) origin.message_ids.push_back(input_.messages[index].id);
  origin.digest = agui_digest(input_, origin.message_ids).value_or("");
  submit.metadata = schema::Json{schema::to_json(AguiMetadata{origin})};
  call(services_, as_, std::move(submit),
       [self = shared_from_this()](const Result<schema::SubmitTurnReply>& reply) {
         if (self->ended_) return;
         if (!reply) return self->fail_with(reply.error());
         self->events_.of_turn(self->turn_);
         self->follow(reply->sequence);
       });
}

void AguiRun::follow(Sequence after) {
  StreamStart start;
  start.session = session_;
  start.after = after;
  start.types = agui_event_types();
  tap_ = SessionTap::open(services_, as_, std::move(start), *this);
}

// --- answers ---

void AguiRun::resume() {
  if (!as_.allows(TokenScope::approve))
    return fail_with({Code::forbidden, "resume needs a token with scope approve", {}});
  if (input_.resume->empty())
    return fail_with({Code::invalid_params, "resume: expected an answer to each interrupt", {}});
  read_actions(services_, as_, session_,
               [self = shared_from_this()](Result<std::vector<schema::ActionSnapshot>> open) {
                 if (self->ended_) return;
                 if (!open) return self->fail_with(open.error());
                 self->check_answers(*std::move(open));
               });
}

// All or nothing: the answers are checked before the first is given.
void AguiRun::check_answers(std::vector<schema::ActionSnapshot> open) {
  std::set<std::string> given;
  for (const AguiAnswer& answer : *input_.resume)
    if (!given.insert(answer.interrupt_id).second)
      return fail_with({Code::invalid_params,
                        fmt::format("resume: {} is answered twice", answer.interrupt_id),
                        {}});
  std::vector<std::string> missing;
  for (const schema::ActionSnapshot& action : open)
    if (!given.contains(action.action_id.text())) missing.push_back(action.action_id.text());
  if (!missing.empty())
    return fail_with({Code::invalid_params,
                      fmt::format("resume: every open interrupt must be answered; missing: {}",
                                  fmt::join(missing, ", ")),
                      {}});
  for (const AguiAnswer& answer : *input_.resume) {
    const auto action = std::ranges::find_if(open, [&](const schema::ActionSnapshot& each) {
      return each.action_id.text() == answer.interrupt_id;
    });
    schema::ActionSnapshot unknown;  // answered before, perhaps by this run
    unknown.action_id = ActionId{answer.interrupt_id};
    if (action == open.end() && !well_formed_id(answer.interrupt_id))
      return fail_with({Code::not_found,
                        fmt::format("resume: there is no interrupt {}", answer.interrupt_id),
                        {}});
    auto respond = action != open.end() ? answer_of(answer, *action)
                                        : Result<schema::RespondAction>(schema::RespondAction{});
    if (!respond) return fail_with(respond.error());
    respond->action_id = ActionId{answer.interrupt_id};
    answers_.push_back(*std::move(respond));
  }
  locate(0);
}

// Finds where the questions were asked: the run begins behind the first answer.
void AguiRun::locate(std::size_t index) {
  if (index == answers_.size()) return answer(0);
  schema::FindObject find;
  find.id = answers_[index].action_id.text();
  find.session_id = session_;
  call(services_, as_, std::move(find),
       [self = shared_from_this(), index](const Result<schema::FoundObject>& found) {
         if (self->ended_) return;
         if (!found) return self->fail_with(found.error());
         self->since_ =
             self->since_ == 0 ? found->sequence : std::min(self->since_, found->sequence);
         self->awaited_.insert(self->answers_[index].action_id);
         self->locate(index + 1);
       });
}

void AguiRun::answer(std::size_t index) {
  while (index < answers_.size() && answers_[index].decision.empty()) ++index;
  if (index == answers_.size()) {
    events_.of_turn(services_.protocols.agui.of(session_).newest);
    return follow(since_ == 0 ? 0 : since_ - 1);
  }
  schema::RespondAction respond = answers_[index];
  call(services_, as_, std::move(respond),
       [self = shared_from_this(), index](const Result<schema::ActionReply>& reply) {
         if (self->ended_) return;
         // Another client was faster: its answer counts, and the run continues from it.
         if (!reply && reply.error().code != Code::conflict) return self->fail_with(reply.error());
         self->answer(index + 1);
       });
}

// Whether the run answers this question instead of cancelling it.
bool AguiRun::answers(const ActionId& action) const {
  return std::ranges::any_of(*input_.resume, [&](const AguiAnswer& answer) {
    return answer.interrupt_id == action.text() && !answer.cancelled;
  });
}

// --- events ---

void AguiRun::on_event(Sequence, std::string_view, const std::string& event) {
  const auto row = schema::read_event(event);
  const auto fact = row ? schema::decode(*row) : std::unexpected(row.error());
  if (!fact || ended_) return;
  if (!awaited_.empty()) {
    // What precedes the answers belongs to the run that ended with the questions.
    const auto* const resolved = std::get_if<schema::ActionResolved>(&fact->payload);
    if (!resolved || !awaited_.contains(fact->ids.action_id)) return;
    if (resolved->decision == "expired" && answers(fact->ids.action_id))
      return fail_with({Code::expired,
                        fmt::format("resume: the question {} has expired; cancel it to continue",
                                    fact->ids.action_id.text()),
                        {}});
    awaited_.clear();
  }
  const auto self = shared_from_this();
  send(events_.take(*fact));
  if (events_.done()) stop();
}

void AguiRun::on_tap_ended(Error why) {
  tap_.reset();
  fail_with(why);
}

void AguiRun::send(const std::vector<std::string>& events) {
  for (const std::string& event : events)
    if (out_) out_->send(event);
}

void AguiRun::fail_with(const Error& error) {
  if (ended_) return;
  send({AguiEvents::error(error)});
  stop();
}

void AguiRun::stop() {
  const auto self = shared_from_this();
  ended_ = true;
  if (tap_) tap_->close();
  tap_.reset();
  if (out_) out_->finish();
  out_.reset();
  services_.protocols.waiting.remove(this);
}

}  // namespace agentrt::channels
