// kernel/history.cc: the earlier turns of a thread, as the messages a model is given.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "kernel/reads.h"

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

// Question and answer of one earlier turn, placed by when it was answered: a promoted turn runs
// before turns that were submitted earlier.
struct Exchange {
  Sequence answered = 0;
  Sequence asked = 0;
  std::string question;
  std::string answer;
};

Result<Exchange> read_exchange(store::Store& store, const SessionId& session,
                               const store::IndexRow& row) {
  TurnSnapshot turn;
  TRY(from_json(row.record, turn, Unknown::ignore));
  Exchange out;
  out.asked = row.first;
  TRY_ASSIGN(const Fact asked, fact_at(store, session, row.first));
  if (const auto* submitted = std::get_if<TurnSubmitted>(&asked.payload))
    out.question = text_of(submitted->input);
  out.answered = sequence_of(turn.output_ref).value_or(row.first);
  TRY_ASSIGN(const Fact answered, fact_at(store, session, out.answered));
  if (const auto* completed = std::get_if<ModelCompleted>(&answered.payload))
    out.answer = completed->text ? *completed->text : completed->preview.value_or("");
  return out;
}

// The newest completed turns of the thread that fit, newest first.
Result<std::vector<Exchange>> find_exchanges(store::Store& store, const Limits& limits,
                                             const SessionId& session, const ThreadId& thread) {
  constexpr std::size_t kPageRows = 32;
  std::vector<Exchange> found;
  std::size_t bytes = 0;
  store::IndexQuery page;
  page.kind = "turn";
  page.session = session;
  page.parent = thread.text();
  page.limit = kPageRows;
  for (std::size_t scanned = 0; scanned < limits.history_scanned_max; scanned += kPageRows) {
    TRY_ASSIGN(const auto rows, store.list(page));
    for (const store::IndexEntry& entry : rows) {
      page.before = entry.row.first;
      if (entry.row.status != name_of(Status::completed)) continue;
      if (found.size() == limits.history_turns_max) return found;
      TRY_ASSIGN(Exchange exchange, read_exchange(store, session, entry.row));
      bytes += exchange.question.size() + exchange.answer.size();
      if (bytes > limits.history_bytes_max) return found;
      found.push_back(std::move(exchange));
    }
    if (rows.size() < kPageRows) break;
  }
  return found;
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
                                            const SessionId& session, const ThreadId& thread,
                                            const TurnId& turn) {
  TRY_ASSIGN(const auto entry, store.find("turn", turn.text()));
  if (!entry) return fail(Code::not_found, fmt::format("there is no turn {}", turn.text()));
  ports::HistoryWindow window;
  TRY_ASSIGN(const Fact asked, fact_at(store, session, entry->row.first));
  if (const auto* submitted = std::get_if<TurnSubmitted>(&asked.payload))
    window.input = submitted->input;

  TRY_ASSIGN(std::vector<Exchange> found, find_exchanges(store, limits, session, thread));
  if (found.empty()) return window;
  std::ranges::sort(found, {}, &Exchange::answered);
  HistoryWindowLoaded loaded;
  loaded.turns = found.size();
  loaded.from_sequence = std::ranges::min(found, {}, &Exchange::asked).asked;
  loaded.to_sequence = found.back().answered;
  for (Exchange& exchange : found) {
    window.messages.push_back({ports::Role::user, std::move(exchange.question)});
    window.messages.push_back({ports::Role::assistant, std::move(exchange.answer)});
  }
  window.loaded = loaded;
  return window;
}

}  // namespace agentrt::kernel
