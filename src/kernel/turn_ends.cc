#include "kernel/turn_ends.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/digest.h"
#include "schema/snapshots.h"

namespace agentrt::kernel {

using namespace schema;

namespace {

constexpr std::size_t kFactsTogether = 64;  // read in one batch

// The sequence that a ref of the form log:N names; 0: it names none.
Sequence sequence_in(const std::optional<std::string>& ref) {
  constexpr std::string_view kPrefix = "log:";
  if (!ref || !ref->starts_with(kPrefix)) return 0;
  Sequence sequence = 0;
  std::from_chars(ref->data() + kPrefix.size(), ref->data() + ref->size(), sequence);
  return sequence;
}

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
  Sequence after = std::max(known.first_sequence, sequence_in(known.output_ref));
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
