#include "conversation/history/history.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "conversation/history/lineage.h"
#include "conversation/messages/turn_digest.h"

namespace agentrt::conversation {
namespace {

using namespace schema;

constexpr std::size_t kFactsTogether = 128;  // read in one batch

std::unexpected<Error> not_stored(Sequence sequence) {
  return fail(Code::unavailable, fmt::format("fact {} is not stored yet", sequence));
}

Result<Fact> fact_at(store::Store& store, const SessionId& session, Sequence sequence) {
  TRY_ASSIGN(const auto events, store.events_at(session, std::array{sequence}));
  return decode(events.front().event);
}

// Reads the input of the turn that the conversation is at, if it is not known.
Result<std::optional<Fact>> read_input(store::Store& store, const ports::HistoryQuery& query,
                                       const SessionId& source, Conversation& conversation) {
  const auto& current = conversation.current();
  if (!current || current->input()) return std::nullopt;
  Sequence submitted = query.submitted;
  if (current->turn() != query.turn) {
    TRY_ASSIGN(const auto entry, store.find("turn", current->turn().text()));
    if (!entry)
      return fail(Code::not_found, fmt::format("there is no turn {}", current->turn().text()));
    submitted = entry->row.first;
  }
  TRY_ASSIGN(Fact fact, fact_at(store, source, submitted));
  conversation.set_input(fact);
  return fact;
}

// Reads a range of facts, from what the conversation has of it.
Result<void> read_range(store::Store& store, const ports::HistoryQuery& query, const Range& range,
                        Conversation& conversation) {
  for (Sequence after = range.after;;) {
    TRY_ASSIGN(const std::vector<Sequence> sequences,
               store.sent(range.session, range.thread, after, range.up_to, kFactsTogether));
    TRY_ASSIGN(const auto events, store.events_at(range.session, sequences));
    for (const store::Event& each : events) {
      TRY_ASSIGN(const Fact fact, decode(each.event));
      conversation.take(fact);
      TRY(read_input(store, query, range.session, conversation));
    }
    if (sequences.size() < kFactsTogether) return {};
    after = sequences.back();
  }
}

// The ranges that the conversation consists of, oldest first; what a compaction covers is left out.
Result<std::vector<Range>> lineage_of(store::Store& store, const ports::HistoryQuery& query) {
  std::vector<ports::HistoryQuery::Part> parts = query.inherited;
  parts.push_back({query.session, query.thread, query.up_to});
  // Sessions follow each other in a lineage: those before the one with the compaction are covered.
  auto first = parts.begin();
  if (!query.continuation_ref.empty())
    first = std::ranges::find(parts, query.covered_in, &ports::HistoryQuery::Part::session);
  std::vector<Range> out;
  for (; first != parts.end(); ++first) {
    const bool covered = !query.continuation_ref.empty() && first->session == query.covered_in;
    TRY_ASSIGN(const auto live, live_ranges(store, first->session, first->thread, first->up_to,
                                            covered ? query.covered_through : 0));
    out.insert(out.end(), live.rbegin(), live.rend());
  }
  return out;
}

// Reads the conversation from the log. A turn that was running at the end of an inherited part, or
// where the thread was rolled back, does not belong to it.
Result<Conversation> read_all(store::Store& store, const ports::HistoryQuery& query) {
  Conversation conversation(query.session, query.covered_in, query.continuation_ref);
  TRY_ASSIGN(const std::vector<Range> ranges, lineage_of(store, query));
  for (const Range& range : ranges) {
    conversation.drop_current();
    conversation.enter(range.session, range.after);
    TRY(read_range(store, query, range, conversation));
  }
  return conversation;
}

// Completes what was kept, or begins anew. An item of a job sees its own turn only.
Result<void> complete(store::Store& store, const ports::HistoryQuery& query,
                      std::optional<Conversation>& conversation) {
  TRY_ASSIGN(const Sequence head, store.head(query.session));
  if (head < query.up_to) return not_stored(query.up_to);
  if (!conversation && !query.alone) {
    TRY_ASSIGN(conversation, read_all(store, query));
    return {};
  }
  if (!conversation) conversation.emplace(query.session);
  Sequence after = conversation->through();
  if (query.alone) after = std::max(after, query.submitted - 1);
  return read_range(store, query, {query.session, query.thread, after, query.up_to}, *conversation);
}

Result<Tools> read_tools(store::Store& store, const ports::HistoryQuery& query,
                         KeptConversations& kept) {
  if (Tools known = kept.tools(query.session, query.catalog)) return known;
  TRY_ASSIGN(const Fact fact, fact_at(store, query.session, query.catalog));
  const auto* catalog = std::get_if<ToolCatalogResolved>(&fact.payload);
  Tools tools = offered_in(catalog ? *catalog : ToolCatalogResolved{});
  kept.keep_tools(query.session, query.catalog, tools);
  return tools;
}

// The text of an answer that wrote a summary.
Result<ports::Message> read_summary(store::Store& store, const ports::HistoryQuery& query) {
  TRY_ASSIGN(const Fact fact, fact_at(store, query.session, query.summary));
  ports::Message message;
  const auto* completed = std::get_if<ModelCompleted>(&fact.payload);
  if (!completed) return fail(Code::internal, "the summary is not in the log");
  if (!completed->text && completed->output_ref)
    message.parts.push_back({.session = query.session,
                             .ref = *completed->output_ref,
                             .media_type = {},
                             .name = {},
                             .offset = 0,
                             .size = 0});
  message.text = completed->text.value_or("");
  return message;
}

using Past = std::vector<std::shared_ptr<const PastTurn>>;

// The turns to send: those after `omitted_through`. If they do not fit, as many of the oldest are
// omitted that half of the room stays free, so that the next turns need not omit more. Turns of
// other sessions have no place in the order of this one, so they are omitted together.
std::size_t first_sent(const Past& past, const ports::HistoryQuery& query, std::size_t own_bytes) {
  std::size_t first = 0;
  while (first < past.size() && query.omitted_through > 0 &&
         past[first]->last <= query.omitted_through)
    ++first;
  if (!query.fit_bytes) return first;
  const std::size_t room = *query.fit_bytes - std::min(own_bytes, *query.fit_bytes);
  std::size_t bytes = 0;
  for (std::size_t i = first; i < past.size(); ++i) bytes += past[i]->bytes;
  if (bytes <= room) return first;
  for (; first < past.size() && bytes > room / 2; ++first) bytes -= past[first]->bytes;
  while (first > 0 && first < past.size() && past[first]->last == 0) ++first;
  return first;
}

void put_past(const Past& past, const ports::HistoryQuery& query, ports::HistoryWindow& window) {
  const std::size_t first = first_sent(past, query, window.own_bytes);
  window.omitted_through = query.omitted_through;
  window.turns_omitted = first;
  if (first > 0)
    window.omitted_through = std::max({window.omitted_through, past[first - 1]->last, Sequence{1}});
  for (std::size_t i = first; i < past.size(); ++i) {
    if (past[i]->question) window.questions.push_back(window.messages.size() + *past[i]->question);
    std::ranges::copy(past[i]->messages, std::back_inserter(window.messages));
    window.bytes += past[i]->bytes;
    window.history_digest = extended(window.history_digest, past[i]->digest());
  }
  if (first == past.size()) return;
  HistoryWindowLoaded loaded;
  loaded.turns = past.size() - first;
  loaded.from_sequence = past[first]->first;
  loaded.to_sequence = past.back()->last;
  window.loaded = loaded;
}

}  // namespace

Result<ports::HistoryWindow> history_window(store::Store& store, const ports::HistoryQuery& query,
                                            KeptConversations& kept) {
  KeptConversations::Found found = kept.find(query.session, query.thread, query.rolled_back);
  if (!found.live) TRY(complete(store, query, found.conversation));
  TRY_ASSIGN(found.submitted, read_input(store, query, query.session, *found.conversation));
  kept.keep(query.session, query.thread, found, query.up_to);
  const auto& current = found.conversation->current();
  if (!current || current->turn() != query.turn)
    return fail(Code::not_found, fmt::format("turn {} is not in progress", query.turn.text()));
  ports::HistoryWindow window;
  std::vector<ports::Message> own = current->messages();
  window.own_bytes = window.bytes = size_of(own);
  if (!query.alone) {
    if (auto continuation = found.conversation->continuation()) {
      window.bytes += size_of(*continuation);
      window.history_digest = extended({}, digest_of(*continuation));
      window.messages.push_back(*std::move(continuation));
    }
    put_past(found.conversation->past(), query, window);
  }
  window.own = window.messages.size();
  window.own_started = current->started();
  if (const auto question = current->question()) {
    window.question = window.own + *question;
    window.questions.push_back(*window.question);
  }
  std::ranges::move(own, std::back_inserter(window.messages));
  window.input = current->input().value_or(std::vector<InputPart>{});
  window.answered = current->answered();
  if (query.summary > 0) {
    TRY_ASSIGN(window.summary, read_summary(store, query));
  }
  if (query.catalog > 0) {
    TRY_ASSIGN(const Tools tools, read_tools(store, query, kept));
    window.tools = *tools;
  }
  return window;
}

}  // namespace agentrt::conversation
