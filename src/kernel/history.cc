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

// Question and answer of one earlier turn.
Result<std::pair<std::string, std::string>> exchange(store::Store& store, const SessionId& session,
                                                     const TurnSnapshot& turn) {
  std::pair<std::string, std::string> out;
  TRY_ASSIGN(const Fact asked, fact_at(store, session, turn.first_sequence));
  if (const auto* submitted = std::get_if<TurnSubmitted>(&asked.payload))
    out.first = text_of(submitted->input);
  if (const auto sequence = sequence_of(turn.output_ref)) {
    TRY_ASSIGN(const Fact answered, fact_at(store, session, *sequence));
    if (const auto* completed = std::get_if<ModelCompleted>(&answered.payload))
      out.second = completed->text ? *completed->text : completed->preview.value_or("");
  }
  return out;
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

  TRY_ASSIGN(const auto earlier, store.list({.kind = "turn",
                                             .session = session,
                                             .before = entry->row.first,
                                             .parent = thread.text(),
                                             .limit = limits.history_turns_max + 1}));
  if (earlier.empty()) return window;
  std::size_t bytes = 0;
  HistoryWindowLoaded loaded{.to_sequence = entry->row.first - 1};
  for (const store::IndexEntry& row : earlier) {  // newest first
    TurnSnapshot snapshot;
    TRY(from_json(row.row.record, snapshot, Unknown::ignore));
    TRY_ASSIGN(auto texts, exchange(store, session, snapshot));
    bytes += texts.first.size() + texts.second.size();
    if (loaded.turns == limits.history_turns_max || bytes > limits.history_bytes_max) {
      ++loaded.omitted;
      break;
    }
    ++loaded.turns;
    loaded.from_sequence = snapshot.first_sequence;
    if (!texts.second.empty())
      window.messages.push_back({ports::Role::assistant, std::move(texts.second)});
    window.messages.push_back({ports::Role::user, std::move(texts.first)});
  }
  std::ranges::reverse(window.messages);
  window.loaded = loaded;
  return window;
}

}  // namespace agentrt::kernel
