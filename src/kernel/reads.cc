#include "kernel/reads.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ranges>

#include <fmt/format.h>

#include "kernel/history/removed_part.h"

namespace agentrt::kernel {
namespace {

using namespace schema;

std::size_t page_size(const std::optional<std::uint64_t>& asked, std::size_t standard,
                      const Limits& limits) {
  return std::min<std::size_t>(asked.value_or(standard), limits.page_max);
}

Result<void> check_limit(const std::optional<std::uint64_t>& limit) {
  if (limit && *limit == 0) return fail(Code::invalid_params, "limit: expected 1 or more");
  return {};
}

// The index rows selected by a query with limit and cursor.
template <class Query>
Result<store::IndexQuery> page_of(std::string kind, std::optional<SessionId> session,
                                  const Query& query, const store::Store& store,
                                  const Limits& limits) {
  TRY(check_limit(query.limit));
  store::IndexQuery rows;
  rows.kind = std::move(kind);
  rows.session = std::move(session);
  rows.limit = page_size(query.limit, limits.page_turns_default, limits);
  if (query.cursor) {
    TRY_ASSIGN(rows.before, read_cursor(store.generation(), *query.cursor));
  }
  return rows;
}

void close_list(std::string& out, const std::optional<std::string>& next) {
  out += ']';
  if (next) {
    out += R"(,"nextCursor":)";
    write_string(out, *next);
  }
}

Result<void> check_generation(const store::Store& store,
                              const std::optional<GenerationId>& generation) {
  if (generation && *generation != store.generation())
    return fail(Code::gone,
                "the store was restored since then: read a snapshot and continue from there",
                fmt::format(R"({{"generation":{}}})", to_json(store.generation())));
  return {};
}

Result<void> check_head(store::Store& store, const SessionId& session, Sequence after) {
  TRY_ASSIGN(const Sequence head, store.head(session));
  if (head == 0)
    return fail(Code::not_found, fmt::format("there is no session {}", session.text()));
  if (after > head)
    return fail(Code::gone,
                fmt::format("sequence {} is beyond the end of this session, which is {}: read a "
                            "snapshot and continue from there",
                            after, head),
                fmt::format(R"({{"lastSequence":{}}})", head));
  return {};
}

}  // namespace

Result<void> check_session(store::Store& store, const std::optional<SessionId>& session) {
  if (!session) return {};
  return check_head(store, *session, 0);
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t out = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return out;
}

std::string write_cursor(const GenerationId& generation, std::uint64_t place) {
  return fmt::format("{}.{}", generation.text(), place);
}

Result<std::uint64_t> read_cursor(const GenerationId& generation, std::string_view cursor) {
  const std::size_t dot = cursor.rfind('.');
  std::uint64_t place = 0;
  const char* end = cursor.data() + cursor.size();
  if (dot == std::string_view::npos || !cursor.starts_with("gen_") ||
      std::from_chars(cursor.data() + dot + 1, end, place).ptr != end || dot + 1 == cursor.size())
    return fail(Code::invalid_params, "cursor: not a cursor of this runtime");
  if (cursor.substr(0, dot) != generation.text())
    return fail(Code::gone,
                "cursor: the store was restored since then: start again without a cursor");
  return place;
}

std::string write_row_cursor(const GenerationId& generation, const store::IndexEntry& entry) {
  return fmt::format("{}.{}:{}:{}", generation.text(), entry.session_order, entry.row.first,
                     entry.row.id);
}

Result<void> read_row_cursor(const GenerationId& generation, std::string_view cursor,
                             store::IndexQuery& query) {
  const auto malformed = [] {
    return fail(Code::invalid_params, "cursor: not a cursor of this runtime");
  };
  const std::size_t dot = cursor.find('.');
  const std::size_t first = cursor.find(':');
  const std::size_t second = first == std::string_view::npos ? first : cursor.find(':', first + 1);
  if (dot == std::string_view::npos || second == std::string_view::npos || dot > first)
    return malformed();
  if (cursor.substr(0, dot) != generation.text())
    return fail(Code::gone,
                "cursor: the store was restored since then: start again without a cursor");
  const auto order = number_of(cursor.substr(dot + 1, first - dot - 1));
  const auto place = number_of(cursor.substr(first + 1, second - first - 1));
  if (!order || !place) return malformed();
  query.before = query.session ? *place : *order;
  query.before_first = query.session ? 0 : *place;
  query.before_id = std::string(cursor.substr(second + 1));
  return {};
}

Result<std::string> list_events(store::Store& store, const ListEvents& query,
                                const Limits& limits) {
  TRY(check_limit(query.limit));
  TRY(check_generation(store, query.generation));
  Sequence after = query.after.value_or(0);
  TRY(check_head(store, query.session_id, after));
  const std::size_t wanted = page_size(query.limit, limits.page_events_default, limits);
  std::string out = R"({"data":[)";
  std::size_t found = 0;
  std::size_t scanned = 0;
  bool ended = false;
  while (found < wanted && !ended && scanned < limits.events_scanned_max &&
         out.size() < limits.page_bytes_max) {
    TRY_ASSIGN(const auto page,
               store.events(query.session_id, after, query.types ? limits.page_max : wanted - found,
                            limits.page_bytes_max));
    ended = page.empty();
    for (const store::Event& stored : page) {
      if (found == wanted) break;
      after = stored.event.sequence;
      ++scanned;
      if (query.types && std::ranges::find(*query.types, stored.event.type) == query.types->end())
        continue;
      if (found++ > 0) out += ',';
      write_event(out, stored.event);
    }
  }
  TRY_ASSIGN(const Sequence head, store.head(query.session_id));
  close_list(out, after < head ? std::optional(std::to_string(after)) : std::nullopt);
  return out +
         fmt::format(R"(,"generation":{},"asOfSequence":{}}})", to_json(store.generation()), head);
}

namespace {

// Replaces a damaged row in a stream over all sessions, with its ids and cursor.
schema::StoredEvent damaged_event(store::Event event, const RuntimeId& runtime) {
  event.event.type = ports::kDamagedEvent;
  event.event.runtime = runtime;
  event.event.payload = R"({"reason":)";
  write_string(event.event.payload, *event.damage);
  event.event.payload += '}';
  return std::move(event.event);
}

Result<std::uint64_t> end_of(store::Store& store, const std::optional<SessionId>& session) {
  return session ? store.head(*session) : store.last_position();
}

Result<void> check_place(store::Store& store, const ports::PageQuery& query) {
  TRY(check_generation(store, query.generation));
  if (query.session) return check_head(store, *query.session, query.from_end ? 0 : query.after);
  TRY_ASSIGN(const store::Position last, store.last_position());
  if (!query.from_end && query.after > last)
    return fail(Code::gone, fmt::format("position {} is beyond the end of this store, which is {}",
                                        query.after, last));
  return {};
}

// A damaged row passes every filter: its type is unknown.
bool selects(const ports::PageQuery& query, const store::Event& event) {
  return query.types.empty() || event.damage ||
         std::ranges::find(query.types, event.event.type) != query.types.end();
}

// Adds the selected events after page.reached; returns how many rows it read.
Result<std::size_t> add_events(store::Store& store, const ports::PageQuery& query,
                               std::size_t rows_max, ports::Page& page) {
  TRY_ASSIGN(auto events,
             query.session ? store.events(*query.session, page.reached, rows_max, query.bytes_max)
                           : store.all_events(page.reached, rows_max, query.bytes_max));
  for (store::Event& event : events) {
    if (page.events.size() == query.events_max) break;
    const store::Position position = event.position;
    page.reached = query.session ? event.event.sequence : position;
    if (!selects(query, event)) continue;
    if (event.damage) ++page.damaged;
    page.events.push_back({position, event.damage ? damaged_event(std::move(event), store.runtime())
                                                  : std::move(event.event)});
  }
  return events.size();
}

}  // namespace

Result<ports::Page> read_page(store::Store& store, const ports::PageQuery& query,
                              const Limits& limits) {
  TRY(check_place(store, query));
  ports::Page page;
  page.reached = query.after;
  if (query.from_end) {
    TRY_ASSIGN(page.reached, end_of(store, query.session));
    return page;
  }
  std::size_t scanned = 0;
  std::size_t bytes = 0;
  bool again = true;
  while (again) {
    const std::size_t had = page.events.size();
    TRY_ASSIGN(
        const std::size_t rows,
        add_events(store, query, query.types.empty() ? query.events_max : limits.page_max, page));
    scanned += rows;
    for (std::size_t i = had; i < page.events.size(); ++i)
      bytes += page.events[i].event.payload.size();
    again = !query.types.empty() && rows > 0 && page.events.size() < query.events_max &&
            bytes < query.bytes_max && scanned < limits.events_scanned_max;
  }
  // Read the end after the page: facts stored meanwhile are in the page or counted as following.
  TRY_ASSIGN(const std::uint64_t end, end_of(store, query.session));
  page.more = page.reached < end;
  return page;
}

namespace {

// Adds the turns as their rows have them, with a mark on those that rollbacks have removed.
Result<void> add_turns(store::Store& store, const SessionId& session,
                       const std::vector<store::IndexEntry>& entries, std::vector<Json>& out) {
  RemovedTurns removals(store, session);
  const std::size_t before = out.size();
  for (const store::IndexEntry& entry : entries | std::views::reverse) {
    TurnSnapshot turn;
    TRY(from_json(entry.row.record, turn, Unknown::ignore));
    TRY_ASSIGN(const bool removed, removals.is_removed(turn));
    if (removed) turn.removed = true;
    out.push_back({removed ? to_json(turn) : entry.row.record});
  }
  std::reverse(out.begin() + static_cast<std::ptrdiff_t>(before), out.end());
  return {};
}

}  // namespace

Result<void> add_history(store::Store& store, const GetSession& query, const Limits& limits,
                         SessionSnapshot& snapshot) {
  TRY_ASSIGN(store::IndexQuery rows, page_of("turn", query.session_id, query, store, limits));
  if (query.thread_id) rows.parent = query.thread_id->text();
  TRY_ASSIGN(const auto entries, store.list(rows));
  TRY(add_turns(store, query.session_id, entries, snapshot.history));
  if (entries.size() == rows.limit) {
    rows.before = entries.back().row.first;
    rows.limit = 1;
    TRY_ASSIGN(const auto older, store.list(rows));
    if (!older.empty()) snapshot.history_cursor = write_cursor(store.generation(), *rows.before);
  }
  snapshot.generation = store.generation();
  snapshot.runtime_id = store.runtime();
  return {};
}

Result<std::optional<FoundTurn>> find_turn(store::Store& store, const TurnId& turn) {
  TRY_ASSIGN(const auto entry, store.find("turn", turn.text()));
  if (!entry) return std::nullopt;
  FoundTurn found;
  TRY_ASSIGN(const auto events, store.events_at(entry->session, std::array{entry->row.first}));
  TRY_ASSIGN(found.submitted, decode(events.front().event));
  if (!std::holds_alternative<TurnSubmitted>(found.submitted.payload))
    return fail(Code::internal,
                fmt::format("the index row of turn {} points to another fact", turn.text()));
  found.status = enum_of<Status>(entry->row.status).value_or(Status::stale);
  return found;
}

Result<std::optional<Fact>> find_spawned(store::Store& store, const SubagentId& subagent) {
  TRY_ASSIGN(const auto entry, store.find("subagent", subagent.text()));
  if (!entry) return std::nullopt;
  TRY_ASSIGN(const auto events, store.events_at(entry->session, std::array{entry->row.first}));
  TRY_ASSIGN(Fact fact, decode(events.front().event));
  if (!std::holds_alternative<SubagentSpawned>(fact.payload))
    return fail(Code::internal, fmt::format("the index row of subagent {} points to another fact",
                                            subagent.text()));
  return fact;
}

}  // namespace agentrt::kernel
