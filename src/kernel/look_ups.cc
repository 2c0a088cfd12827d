#include "kernel/look_ups.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "kernel/history/removed_part.h"
#include "kernel/reads.h"
#include "schema/outputs.h"
#include "state/index.h"

namespace agentrt::kernel {

using namespace schema;

namespace {

constexpr std::size_t kPageEvents = 512;
constexpr std::size_t kPageBytes = 1 << 20;

bool ends_turn(const Payload& payload) {
  return std::holds_alternative<TurnCompleted>(payload) ||
         std::holds_alternative<TurnFailed>(payload);
}

// Collects the items of one turn from its session's facts.
class Items {
 public:
  Items(const TurnId& turn, std::size_t limit) : turn_(turn), limit_(limit) {}

  void hear(const Fact& fact) {
    if (fact.ids.turn_id != turn_) return;
    if (const auto* started = std::get_if<ItemStarted>(&fact.payload)) {
      if (items.size() == limit_) {
        more = true;
      } else {
        ItemSnapshot item;
        item.step_id = fact.ids.step_id;
        item.kind = started->kind;
        if (!fact.ids.tool_call_id.empty()) item.tool_call_id = fact.ids.tool_call_id;
        item.tool_name = started->tool_name;
        item.first_sequence = fact.sequence;
        item.started_at = fact.at;
        items.push_back(std::move(item));
        ++open_;
      }
    } else if (const auto* completed = std::get_if<ItemCompleted>(&fact.payload)) {
      complete(fact, *completed);
    }
    ended = ended || ends_turn(fact.payload);
  }
  // Whether all items of the page are complete, and it is known whether more follow.
  bool settled() const { return ended || (more && open_ == 0); }

  std::vector<ItemSnapshot> items;
  bool more = false;
  bool ended = false;

 private:
  void complete(const Fact& fact, const ItemCompleted& completed) {
    const auto at = std::ranges::find(items, fact.ids.step_id, &ItemSnapshot::step_id);
    if (at == items.end() || at->completed_at) return;
    at->status = completed.status;
    at->text = completed.text;
    at->preview = completed.preview;
    at->output_ref = completed.output_ref;
    at->error = completed.error;
    at->completed_at = fact.at;
    --open_;
  }

  const TurnId& turn_;
  const std::size_t limit_;
  std::size_t open_ = 0;
};

std::unexpected<Error> no_object(std::string_view what, const std::string& id,
                                 const std::optional<SessionId>& session) {
  return fail(Code::not_found,
              fmt::format("there is no {} {}{}: agentrt show SESSION lists what a session has",
                          what, id, session ? " in this session" : ""));
}

// The kinds of objects that find_object knows. An id of several kinds is that of the first.
constexpr std::array kKinds{std::string_view("session"),
                            std::string_view("turn"),
                            state::kTaskKind,
                            state::kToolCallKind,
                            state::kActionKind,
                            std::string_view("process"),
                            kOutputKind,
                            kJobKind,
                            state::kSubagentKind,
                            state::kChannelKind};

// The same file has the same id in several sessions: the newest session wins.
Result<std::optional<store::IndexEntry>> find_artifact(store::Store& store,
                                                       const FindObject& query) {
  store::IndexQuery rows{.kind = std::string(state::kArtifactKind), .session = query.session_id};
  rows.term = state::artifact_term(query.id);
  rows.limit = 1;
  TRY_ASSIGN(auto entries, store.list(rows));
  if (entries.empty()) return std::nullopt;
  return std::move(entries.front());
}

Result<std::optional<store::IndexEntry>> find_row(store::Store& store, const FindObject& query) {
  for (const std::string_view kind : kKinds) {
    TRY_ASSIGN(auto entry, store.find(std::string(kind), query.id));
    if (entry && (!query.session_id || entry->session == *query.session_id)) return entry;
  }
  return find_artifact(store, query);
}

}  // namespace

Result<std::string> get_turn(store::Store& store, const GetTurn& query, const Limits& limits) {
  if (query.limit == 0) return fail(Code::invalid_params, "limit: expected 1 or more");
  TRY_ASSIGN(const auto entry, store.find("turn", query.turn_id.text()));
  if (!entry || (query.session_id && entry->session != *query.session_id))
    return no_object("turn", query.turn_id.text(), query.session_id);
  GetTurnReply reply;
  reply.session_id = entry->session;
  TRY(from_json(entry->row.record, reply.turn, Unknown::ignore));
  RemovedTurns removals(store, entry->session);
  TRY_ASSIGN(const bool removed, removals.is_removed(reply.turn));
  if (removed) reply.turn.removed = true;
  Sequence after = entry->row.first;
  if (query.cursor) {
    TRY_ASSIGN(const Sequence place, read_cursor(store.generation(), *query.cursor));
    after = std::max(after, place);
  }
  Items items{query.turn_id, std::min<std::size_t>(query.limit.value_or(limits.turn_items_default),
                                                   limits.page_max)};
  const std::string named = fmt::format(R"("turnId":{})", to_json(query.turn_id));
  // Facts of other turns may lie in between: a page that finds few items says where to go on.
  for (std::size_t scanned = 0; !items.settled();) {
    TRY_ASSIGN(const auto page, store.events(entry->session, after, kPageEvents, kPageBytes));
    if (page.empty()) break;
    for (const store::Event& stored : page) {
      after = stored.event.sequence;
      if (!stored.event.scope.contains(named)) continue;
      TRY_ASSIGN(const Fact fact, decode(stored.event));
      items.hear(fact);
      if (items.settled()) break;
    }
    scanned += page.size();
    if (scanned < limits.events_scanned_max || items.settled()) continue;
    if (!items.more) reply.next_cursor = write_cursor(store.generation(), after);
    break;
  }
  if (items.more)
    reply.next_cursor = write_cursor(store.generation(), items.items.back().first_sequence);
  reply.items = std::move(items.items);
  return to_json(reply);
}

Result<std::string> find_object(store::Store& store, const FindObject& query) {
  TRY_ASSIGN(const auto entry, find_row(store, query));
  if (!entry) return no_object("object", query.id, query.session_id);
  FoundObject found;
  found.kind = entry->row.kind;
  found.session_id = entry->session;
  found.sequence = entry->row.first;
  TRY_ASSIGN(const auto events, store.events_at(entry->session, std::array{entry->row.first}));
  TRY_ASSIGN(const Fact fact, decode(events.front().event));
  if (!fact.ids.thread_id.empty()) found.thread_id = fact.ids.thread_id;
  if (!fact.ids.turn_id.empty()) found.turn_id = fact.ids.turn_id;
  return to_json(found);
}

}  // namespace agentrt::kernel
