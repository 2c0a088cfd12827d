// kernel/history.cc: the earlier turns of a thread, as the messages a model is given.
#include <algorithm>
#include <charconv>
#include <iterator>

#include <fmt/format.h>

#include "kernel/reads.h"
#include "kernel/turn_messages.h"

namespace agentrt::kernel {
namespace {

using namespace schema;

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
    out += part.type == InputKind::text ? part.text.value_or("")
                                        : fmt::format("[file {}]", part.path.value_or(""));
  }
  return out;
}

std::optional<Sequence> sequence_of(const std::optional<std::string>& ref) {
  Sequence sequence = 0;
  if (!ref || !ref->starts_with("log:")) return std::nullopt;
  std::from_chars(ref->data() + 4, ref->data() + ref->size(), sequence);
  return sequence > 0 ? std::optional(sequence) : std::nullopt;
}

// One earlier turn, placed by when it was answered: a promoted turn runs before turns that were
// submitted earlier.
struct Exchange {
  Sequence answered = 0;
  Sequence asked = 0;
  std::vector<ports::Message> messages;
};

ports::Message message_of(ports::Role role, std::string text) {
  ports::Message message;
  message.role = role;
  message.text = std::move(text);
  return message;
}

std::size_t size_of(const std::vector<ports::Message>& messages) {
  std::size_t size = 0;
  for (const ports::Message& message : messages) size += kernel::size_of(message);
  return size;
}

// The answer alone, for a turn that made no calls: two facts are read, however long it took.
Result<std::vector<ports::Message>> read_answer(store::Store& store, const SessionId& session,
                                                Sequence answered) {
  std::vector<ports::Message> out;
  TRY_ASSIGN(const Fact fact, fact_at(store, session, answered));
  const auto* completed = std::get_if<ModelCompleted>(&fact.payload);
  if (completed == nullptr) return out;
  std::string text = completed->text ? *completed->text : completed->preview.value_or("");
  if (!text.empty()) out.push_back(message_of(ports::Role::assistant, std::move(text)));
  return out;
}

Result<Exchange> read_exchange(store::Store& store, const Limits& limits, const SessionId& session,
                               const store::IndexRow& row) {
  TurnSnapshot turn;
  TRY(from_json(row.record, turn, Unknown::ignore));
  Exchange out;
  out.asked = row.first;
  TRY_ASSIGN(const Fact asked, fact_at(store, session, row.first));
  if (const auto* submitted = std::get_if<TurnSubmitted>(&asked.payload))
    out.messages.push_back(message_of(ports::Role::user, text_of(submitted->input)));
  out.answered = sequence_of(turn.output_ref).value_or(row.first);
  std::optional<std::vector<ports::Message>> rest;
  if (turn.model_requests > 1) {
    auto read = read_turn(store, {.session = session,
                                  .turn = turn.turn_id,
                                  .first = row.first,
                                  .last = out.answered,
                                  .facts_max = limits.history_facts_max});
    if (!read && read.error().code != Code::limit_exceeded) return std::unexpected(read.error());
    if (read) rest = std::move(read->messages);
  }
  if (!rest) {
    TRY_ASSIGN(rest, read_answer(store, session, out.answered));
  }
  std::ranges::move(*rest, std::back_inserter(out.messages));
  return out;
}

struct Exchanges {
  std::vector<Exchange> found;       // newest first
  std::optional<std::string> limit;  // that left out older ones
};

// The newest completed turns of the thread that fit.
Result<Exchanges> find_exchanges(store::Store& store, const Limits& limits,
                                 const ports::HistoryQuery& query, std::size_t bytes_max) {
  constexpr std::size_t kPageRows = 32;
  Exchanges out;
  std::size_t bytes = 0;
  store::IndexQuery page;
  page.kind = "turn";
  page.session = query.session;
  page.parent = query.thread.text();
  page.limit = kPageRows;
  for (std::size_t scanned = 0; scanned < limits.history_scanned_max; scanned += kPageRows) {
    TRY_ASSIGN(const auto rows, store.list(page));
    for (const store::IndexEntry& entry : rows) {
      page.before = entry.row.first;
      if (entry.row.status != name_of(Status::completed)) continue;
      if (out.found.size() == limits.history_turns_max) {
        out.limit = fmt::format("only the newest {} turns are given", limits.history_turns_max);
        return out;
      }
      TRY_ASSIGN(Exchange exchange, read_exchange(store, limits, query.session, entry.row));
      bytes += size_of(exchange.messages);
      if (bytes > bytes_max) {
        out.limit = fmt::format("turns before the newest {} do not fit into {} bytes",
                                out.found.size(), bytes_max);
        return out;
      }
      out.found.push_back(std::move(exchange));
    }
    if (rows.size() < kPageRows) break;
  }
  return out;
}

// The turn that asks. Its own calls and results come before anything of earlier turns.
Result<void> add_own_turn(store::Store& store, const Limits& limits,
                          const ports::HistoryQuery& query, Sequence first,
                          ports::HistoryWindow& window) {
  TRY_ASSIGN(const Fact asked, fact_at(store, query.session, first));
  if (const auto* submitted = std::get_if<TurnSubmitted>(&asked.payload))
    window.input = submitted->input;
  TRY_ASSIGN(TurnMessages own, read_turn(store, {.session = query.session,
                                                 .turn = query.turn,
                                                 .first = first,
                                                 .last = 0,
                                                 .facts_max = limits.history_facts_max}));
  window.so_far = std::move(own.messages);
  window.tools = std::move(own.tools);
  if (query.bytes_max)
    if (const std::size_t cut = shorten(window.so_far, *query.bytes_max); cut > 0)
      window.omitted.push_back(
          {.ref = "turn:" + query.turn.text(),
           .reason =
               fmt::format("{} results of tools do not fit into {} bytes", cut, *query.bytes_max)});
  return {};
}

}  // namespace

Result<std::optional<FoundTurn>> find_turn(store::Store& store, const TurnId& turn) {
  TRY_ASSIGN(const auto entry, store.find("turn", turn.text()));
  if (!entry) return std::nullopt;
  FoundTurn found;
  TRY_ASSIGN(found.submitted, fact_at(store, entry->session, entry->row.first));
  if (!std::holds_alternative<TurnSubmitted>(found.submitted.payload))
    return fail(Code::internal,
                fmt::format("the index row of turn {} leads elsewhere", turn.text()));
  found.status = enum_of<Status>(entry->row.status).value_or(Status::stale);
  return found;
}

Result<ports::HistoryWindow> history_window(store::Store& store, const Limits& limits,
                                            const ports::HistoryQuery& query) {
  TRY_ASSIGN(const auto entry, store.find("turn", query.turn.text()));
  if (!entry) return fail(Code::not_found, fmt::format("there is no turn {}", query.turn.text()));
  ports::HistoryWindow window;
  TRY(add_own_turn(store, limits, query, entry->row.first, window));
  std::size_t room = limits.history_bytes_max;
  if (query.bytes_max) {
    const std::size_t own = size_of(window.so_far) + text_of(window.input).size();
    room = *query.bytes_max - std::min(own, *query.bytes_max);
  }
  TRY_ASSIGN(Exchanges exchanges, find_exchanges(store, limits, query, room));
  if (exchanges.limit) window.omitted.push_back({.ref = "history", .reason = exchanges.limit});
  std::vector<Exchange>& found = exchanges.found;
  if (found.empty()) return window;
  std::ranges::sort(found, {}, &Exchange::answered);
  HistoryWindowLoaded loaded;
  loaded.turns = found.size();
  loaded.from_sequence = std::ranges::min(found, {}, &Exchange::asked).asked;
  loaded.to_sequence = found.back().answered;
  for (Exchange& exchange : found)
    std::ranges::move(exchange.messages, std::back_inserter(window.messages));
  window.loaded = loaded;
  return window;
}

}  // namespace agentrt::kernel
