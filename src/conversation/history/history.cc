#include "conversation/history/history.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <set>
#include <span>

#include <fmt/format.h>

#include "conversation/history/turn_messages.h"

namespace agentrt::conversation {
namespace {

using namespace schema;

constexpr std::size_t kTurnsTogether = 8;  // read in one batch

// Facts read in advance, by sequence.
using Facts = std::map<Sequence, Fact>;

Result<Fact> fact_at(store::Store& store, const SessionId& session, Sequence sequence) {
  TRY_ASSIGN(const auto events, store.events(session, sequence - 1, 1, 1));
  if (events.empty() || events.front().event.sequence != sequence)
    return fail(Code::internal,
                fmt::format("fact {} of session {} is missing", sequence, session.text()));
  return decode(events.front().event);
}

std::string text_of(const std::vector<InputPart>& input) {
  std::string out;
  for (const InputPart& part : input) {
    if (!out.empty()) out += '\n';
    if (part.type == InputKind::text)
      out += part.text.value_or("");
    else
      out += fmt::format("[{} {}: was attached to this message]", name_of(part.type),
                         part.path ? *part.path : part.ref.value_or(""));
  }
  return out;
}

std::optional<Sequence> sequence_of(const std::optional<std::string>& ref) {
  Sequence sequence = 0;
  if (!ref || !ref->starts_with("log:")) return std::nullopt;
  std::from_chars(ref->data() + 4, ref->data() + ref->size(), sequence);
  return sequence > 0 ? std::optional(sequence) : std::nullopt;
}

// One earlier turn, ordered by when it was answered: a promoted turn runs before turns that were
// submitted earlier.
struct Exchange {
  TurnId turn;
  Sequence answered = 0;
  Sequence asked = 0;
  std::vector<ports::Message> messages;  // with the input, after `before` messages of the runtime
  std::size_t before = 0;
  // Only of an input that names files:
  std::vector<InputPart> input;
  std::vector<ContextRef> files;
};

bool names_files(const std::vector<InputPart>& input) {
  return std::ranges::any_of(input, [](const auto& part) { return part.type != InputKind::text; });
}

ports::Message message_of(ports::Role role, std::string text) {
  ports::Message message;
  message.role = role;
  message.text = std::move(text);
  return message;
}

std::size_t size_of(const std::vector<ports::Message>& messages) {
  std::size_t size = 0;
  for (const ports::Message& message : messages) size += conversation::size_of(message);
  return size;
}

// The answer of a turn without calls: needs only two facts, however long the turn took.
std::vector<ports::Message> answer_of(const Fact& fact) {
  std::vector<ports::Message> out;
  const auto* completed = std::get_if<ModelCompleted>(&fact.payload);
  if (completed == nullptr) return out;
  std::string text = completed->text ? *completed->text : completed->preview.value_or("");
  if (!text.empty()) out.push_back(message_of(ports::Role::assistant, std::move(text)));
  return out;
}

// A turn of the thread that ran and has ended.
struct Past {
  TurnSnapshot turn;
  Sequence asked = 0;
  Sequence answered = 0;

  bool completed() const { return turn.status == Status::completed; }
};

Result<std::vector<Past>> past_in(const std::vector<store::IndexEntry>& rows) {
  std::vector<Past> out;
  for (const store::IndexEntry& entry : rows) {
    if (entry.row.open) continue;
    Past past;
    TRY(from_json(entry.row.record, past.turn, Unknown::ignore));
    if (!past.turn.started_at) continue;  // removed from the queue
    past.asked = entry.row.first;
    past.answered =
        past.completed() ? sequence_of(past.turn.output_ref).value_or(past.asked) : past.asked;
    out.push_back(std::move(past));
  }
  return out;
}

// Tells the model that the turn ended early: the next turn may refer to it, and its effects remain.
std::string note_of_end(const TurnSnapshot& turn) {
  if (turn.status == Status::cancelled) return "[This turn was interrupted here.]";
  return fmt::format("[This turn failed here: {}]",
                     turn.error ? turn.error->message : turn.reason.value_or("no reason is known"));
}

// The facts of the input and of the answer of each turn.
Result<Facts> facts_of(store::Store& store, const SessionId& session, std::span<const Past> turns) {
  std::set<Sequence> wanted;
  for (const Past& past : turns) wanted.insert({past.asked, past.answered});
  const std::vector<Sequence> sequences(wanted.begin(), wanted.end());
  TRY_ASSIGN(const auto events, store.events_at(session, sequences));
  Facts out;
  for (const store::Event& each : events) {
    TRY_ASSIGN(out[each.event.sequence], decode(each.event));
  }
  return out;
}

// The runtime's messages to the model that begin earlier turns, the first of the thread first.
using Told = std::vector<Fact>;

const ContextResolved& context_in(const Fact& fact) {
  return std::get<ContextResolved>(fact.payload);
}

Result<Told> told_before(store::Store& store, const ports::HistoryQuery& query) {
  Told out;
  if (query.told.empty()) return out;
  TRY_ASSIGN(const auto events, store.events_at(query.session, query.told));
  for (const store::Event& each : events) {
    TRY_ASSIGN(Fact fact, decode(each.event));
    const auto* context = std::get_if<ContextResolved>(&fact.payload);
    if (context && context->message && fact.ids.turn_id != query.turn)
      out.push_back(std::move(fact));
  }
  return out;
}

Result<Exchange> read_exchange(store::Store& store, const HistoryLimits& limits,
                               const SessionId& session, const Past& past, const Facts& facts,
                               const Told& told) {
  Exchange out;
  out.turn = past.turn.turn_id;
  out.asked = past.asked;
  out.answered = past.answered;
  const auto begins =
      std::ranges::find(told, out.turn, [](const Fact& f) { return f.ids.turn_id; });
  if (begins != told.end())
    out.messages.push_back(message_of(ports::Role::user, *context_in(*begins).message));
  out.before = out.messages.size();
  if (const auto* submitted = std::get_if<TurnSubmitted>(&facts.at(past.asked).payload)) {
    out.messages.push_back(message_of(ports::Role::user, text_of(submitted->input)));
    if (names_files(submitted->input)) out.input = submitted->input;
  }
  std::optional<std::vector<ports::Message>> rest;
  if (past.turn.model_requests > 1 || !past.completed() || !out.input.empty()) {
    TurnReading reading(session, past.turn.turn_id, past.asked, limits.facts_max);
    const auto read = reading.read_on(store, past.completed() ? past.answered : 0);
    if (!read && read.error().code != Code::limit_exceeded) return std::unexpected(read.error());
    if (read) rest = reading.messages();
    if (!out.input.empty()) out.files = reading.files();
    if (read && reading.ended() > 0) out.answered = reading.ended();
  }
  if (!rest) rest = answer_of(facts.at(past.answered));
  for (ports::Message& message : *rest) message.state.reset();  // valid only within its own turn
  std::ranges::move(*rest, std::back_inserter(out.messages));
  if (!past.completed())
    out.messages.push_back(message_of(ports::Role::user, note_of_end(past.turn)));
  return out;
}

struct Exchanges {
  std::vector<Exchange> found;       // newest first
  std::optional<std::string> limit;  // the limit that excluded older ones
};

// Fails if the end of this turn is not stored yet, because the history would then miss it.
Result<void> check_stored(store::Store& store, const std::optional<TurnId>& ended) {
  if (!ended) return {};
  TRY_ASSIGN(const auto entry, store.find("turn", ended->text()));
  if (!entry || entry->row.open)
    return fail(Code::unavailable, fmt::format("the end of turn {} is not stored", ended->text()));
  return {};
}

// The last turn is included even if it does not fit: without its results, or with only its input
// and final answer.
void cut_down(Exchange& exchange, std::size_t bytes_max) {
  std::vector<ports::Message>& messages = exchange.messages;
  shorten(messages, bytes_max);
  if (size_of(messages) <= bytes_max || messages.size() < exchange.before + 2) return;
  const bool has_end = messages.back().role != ports::Role::tool && messages.back().calls.empty();
  messages.erase(messages.begin() + static_cast<std::ptrdiff_t>(exchange.before) + 1,
                 has_end ? messages.end() - 1 : messages.end());
}

// The newest ended turns of the thread that fit.
Result<Exchanges> find_exchanges(store::Store& store, const HistoryLimits& limits,
                                 const ports::HistoryQuery& query, const Told& told,
                                 std::size_t bytes_max) {
  constexpr std::size_t kPageRows = 32;
  Exchanges out;
  // The thread's first message is always included.
  std::size_t bytes = told.empty() ? 0 : context_in(told.front()).message->size();
  store::IndexQuery page;
  page.kind = "turn";
  page.session = query.session;
  page.parent = query.thread.text();
  page.limit = kPageRows;
  for (std::size_t scanned = 0; scanned < limits.scanned_max; scanned += kPageRows) {
    TRY_ASSIGN(const auto rows, store.list(page));
    TRY_ASSIGN(const std::vector<Past> turns, past_in(rows));
    Facts facts;
    for (std::size_t i = 0; i < turns.size(); ++i) {
      if (out.found.size() == limits.turns_max) {
        out.limit = fmt::format("only the newest {} turns are included", limits.turns_max);
        return out;
      }
      if (i % kTurnsTogether == 0) {
        const auto next = std::span(turns).subspan(i, std::min(kTurnsTogether, turns.size() - i));
        TRY_ASSIGN(facts, facts_of(store, query.session, next));
      }
      TRY_ASSIGN(Exchange exchange,
                 read_exchange(store, limits, query.session, turns[i], facts, told));
      if (out.found.empty() && size_of(exchange.messages) > bytes_max) {
        cut_down(exchange, bytes_max);
        out.limit = "the newest turn does not fit completely";
      }
      bytes += size_of(exchange.messages);
      if (bytes > bytes_max) {
        out.limit = fmt::format("turns before the newest {} do not fit", out.found.size());
        return out;
      }
      out.found.push_back(std::move(exchange));
    }
    if (rows.size() < kPageRows) break;
    page.before = rows.back().row.first;
  }
  return out;
}

// Adds the message that begins the thread if the turn that it begins is not included.
void put_opening(const Told& told, const std::vector<Exchange>& found, EarlierTurns& out) {
  if (told.empty()) return;
  const Fact& first = told.front();
  if (std::ranges::find(found, first.ids.turn_id, &Exchange::turn) != found.end()) return;
  out.messages.push_back(message_of(ports::Role::user, *context_in(first).message));
  out.opened_with = context_in(first).surroundings;
}

EarlierTurns earlier_of(Exchanges exchanges, const Told& told, std::size_t room) {
  EarlierTurns out;
  out.limit = std::move(exchanges.limit);
  out.room = room;
  std::vector<Exchange>& found = exchanges.found;
  put_opening(told, found, out);
  out.bytes = size_of(out.messages);
  if (found.empty()) return out;
  std::ranges::sort(found, {}, &Exchange::answered);
  HistoryWindowLoaded loaded;
  loaded.turns = found.size();
  loaded.from_sequence = std::ranges::min(found, {}, &Exchange::asked).asked;
  loaded.to_sequence = found.back().answered;
  out.loaded = loaded;
  for (Exchange& exchange : found) {
    if (!exchange.input.empty())
      out.with_files.push_back({exchange.asked, out.messages.size() + exchange.before,
                                std::move(exchange.input), std::move(exchange.files)});
    std::ranges::move(exchange.messages, std::back_inserter(out.messages));
  }
  out.bytes = size_of(out.messages);
  return out;
}

// The requesting turn, from its beginning.
Result<OwnTurn> begin_own(store::Store& store, const HistoryLimits& limits,
                          const ports::HistoryQuery& query) {
  Sequence first = query.alone_from;
  if (first == 0) {
    TRY_ASSIGN(const auto entry, store.find("turn", query.turn.text()));
    if (!entry) return fail(Code::not_found, fmt::format("there is no turn {}", query.turn.text()));
    first = entry->row.first;
  }
  OwnTurn own{{}, TurnReading(query.session, query.turn, first, limits.facts_max)};
  TRY_ASSIGN(const Fact asked, fact_at(store, query.session, first));
  if (const auto* submitted = std::get_if<TurnSubmitted>(&asked.payload))
    own.input = submitted->input;
  return own;
}

// The turn's own calls and results take precedence over earlier turns.
void put_own(const OwnTurn& own, const ports::HistoryQuery& query, ports::HistoryWindow& window) {
  window.before = own.reading.before();
  window.input = own.input;
  window.so_far = own.reading.messages();
  window.tools = own.reading.tools();
  if (!query.bytes_max) return;
  if (const std::size_t cut = shorten(window.so_far, *query.bytes_max); cut > 0)
    window.omitted.push_back(
        {.ref = "turn:" + query.turn.text(),
         .reason = fmt::format("{} tool results do not fit into {} bytes", cut, *query.bytes_max)});
}

}  // namespace

Result<ports::HistoryWindow> history_window(store::Store& store, const HistoryLimits& limits,
                                            const ports::HistoryQuery& query, KeptHistory& kept) {
  KeptHistory::Found known = kept.find(query.turn);
  if (!known.own) {
    TRY_ASSIGN(known.own, begin_own(store, limits, query));
  }
  if (!known.whole) TRY(known.own->reading.read_on(store, query.up_to));
  ports::HistoryWindow window;
  put_own(*known.own, query, window);
  const std::size_t own =
      size_of(window.before) + size_of(window.so_far) + text_of(window.input).size();
  std::size_t room = limits.bytes_max;
  if (query.bytes_max) room = *query.bytes_max - std::min(own, *query.bytes_max);
  if (!known.earlier || !known.earlier->hold_in(room)) {
    Told told;
    Exchanges exchanges;
    if (query.alone_from == 0) {
      TRY(check_stored(store, query.last_ended));
      TRY_ASSIGN(told, told_before(store, query));
      TRY_ASSIGN(exchanges, find_exchanges(store, limits, query, told, room));
    }
    known.earlier =
        std::make_shared<const EarlierTurns>(earlier_of(std::move(exchanges), told, room));
  }
  if (known.earlier->limit)
    window.omitted.push_back({.ref = "history", .reason = known.earlier->limit});
  window.messages = known.earlier->messages;
  window.with_files = known.earlier->with_files;
  window.loaded = known.earlier->loaded;
  window.opened_with = known.earlier->opened_with;
  window.bytes = own + known.earlier->bytes;
  kept.keep(query.session, query.turn, std::move(known));
  return window;
}

}  // namespace agentrt::conversation
