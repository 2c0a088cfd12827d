#include "kernel/turn_ends.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/digest.h"
#include "schema/snapshots.h"
#include "state/read_models.h"

namespace agentrt::kernel {

using namespace schema;

namespace {

constexpr std::size_t kFactsTogether = 64;  // read in one batch

bool ends(const StoredEvent& event) {
  return event.type == TurnCompleted::kType || event.type == TurnFailed::kType;
}

}  // namespace

Result<std::optional<control::LaneReads::EndedTurn>> find_end(store::Store& store,
                                                              const SessionId& session,
                                                              const TurnId& turn) {
  TRY_ASSIGN(const auto entry, store.find("turn", turn.text()));
  if (!entry || entry->session != session) return std::nullopt;
  TurnSnapshot known;
  TRY(from_json(entry->row.record, known, Unknown::ignore));
  control::LaneReads::EndedTurn found{.thread = known.thread_id, .end = 0, .hash = {}};
  if (!ended(known.status)) return found;
  TRY_ASSIGN(const Sequence head, store.head(session));
  // The end follows the last answer of the turn, with few facts in between.
  Sequence after = std::max(known.first_sequence, state::sequence_in(known.output_ref));
  for (;;) {
    TRY_ASSIGN(const auto sequences,
               store.sent(session, known.thread_id, after, head, kFactsTogether));
    TRY_ASSIGN(const auto events, store.events_at(session, sequences));
    for (const store::Event& each : events) {
      if (!ends(each.event)) continue;
      TRY_ASSIGN(const Fact fact, decode(each.event));
      if (fact.ids.turn_id != turn) continue;
      found.end = fact.sequence;
      found.hash = hex(bytes_of(each.hash));
      return found;
    }
    if (sequences.size() < kFactsTogether)
      return fail(Code::internal, fmt::format("the end of turn {} is not in the log", turn.text()));
    after = sequences.back();
  }
}

}  // namespace agentrt::kernel
