#include "outputs/inherited.h"

#include <algorithm>
#include <array>
#include <set>

#include "conversation/history/lineage.h"
#include "schema/facts.h"
#include "schema/forks.h"

namespace agentrt::outputs {

using namespace schema;
using conversation::Range;

namespace {

constexpr std::size_t kTurnsTogether = 100;

// What the session began with; empty: it is no fork of another session.
Result<std::vector<InheritedPart>> inherited_parts(store::Store& store, const SessionId& session) {
  store::IndexQuery query{.kind = std::string(kForkKind), .session = session};
  query.limit = 1;
  TRY_ASSIGN(const auto rows, store.list(query));
  if (rows.empty()) return {};
  TRY_ASSIGN(const auto events, store.events_at(session, std::array{rows.front().row.first}));
  TRY_ASSIGN(const Fact fact, decode(events.front().event));
  const auto* started = std::get_if<ThreadStarted>(&fact.payload);
  return started && started->inherited ? *started->inherited : std::vector<InheritedPart>{};
}

bool names(const TurnSubmitted& submitted, const std::string& ref) {
  return std::ranges::any_of(submitted.input,
                             [&](const InputPart& part) { return part.ref == ref; });
}

// Whether the upload is part of the input of a turn within these ranges of a thread.
Result<bool> is_input(store::Store& store, const InheritedPart& part,
                      const std::vector<Range>& live, const std::string& ref) {
  store::IndexQuery query{.kind = "turn",
                          .session = part.session_id,
                          .before = part.up_to + 1,
                          .parent = part.thread_id.text()};
  query.limit = kTurnsTogether;
  for (std::size_t searched = 0; searched < kInputsSearchedMax; searched += query.limit) {
    TRY_ASSIGN(const auto rows, store.list(query));
    std::vector<Sequence> submitted;
    for (const store::IndexEntry& row : rows)
      if (conversation::contains(live, row.row.first)) submitted.push_back(row.row.first);
    TRY_ASSIGN(const auto events, store.events_at(*part.session_id, submitted));
    for (const store::Event& each : events) {
      TRY_ASSIGN(const Fact fact, decode(each.event));
      const auto* turn = std::get_if<TurnSubmitted>(&fact.payload);
      if (turn && names(*turn, ref)) return true;
    }
    if (rows.size() < query.limit) return false;
    query.before = rows.back().row.first;
  }
  return false;
}

}  // namespace

Result<bool> is_inherited(store::Store& store, const SessionId& session,
                          const store::IndexEntry& output) {
  TRY_ASSIGN(const auto parts, inherited_parts(store, session));
  const Sequence stored = output.row.first;
  for (const InheritedPart& part : parts) {
    if (part.session_id != output.session || stored > part.up_to) continue;
    TRY_ASSIGN(const auto events, store.events_at(output.session, std::array{stored}));
    TRY_ASSIGN(const Fact fact, decode(events.front().event));
    const bool uploaded = fact.ids.thread_id.empty();
    if (!uploaded && fact.ids.thread_id != part.thread_id) continue;
    TRY_ASSIGN(const auto live,
               conversation::live_ranges(store, output.session, part.thread_id, part.up_to));
    if (!uploaded && conversation::contains(live, stored)) return true;
    if (!uploaded) continue;
    TRY_ASSIGN(const bool input, is_input(store, part, live, output.row.id));
    if (input) return true;
  }
  return false;
}

}  // namespace agentrt::outputs
