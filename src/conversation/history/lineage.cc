#include "conversation/history/lineage.h"

#include <algorithm>

#include "schema/rollback.h"

namespace agentrt::conversation {

using namespace schema;

namespace {

// The newest rollback of the thread at or before `up_to`.
Result<std::optional<RollbackRecord>> rollback_before(store::Store& store, const SessionId& session,
                                                      const ThreadId& thread, Sequence up_to) {
  store::IndexQuery query{.kind = std::string(kRollbackKind),
                          .session = session,
                          .before = up_to + 1,
                          .parent = thread.text()};
  query.limit = 1;
  TRY_ASSIGN(const auto rows, store.list(query));
  if (rows.empty()) return std::nullopt;
  RollbackRecord record;
  TRY(from_json(rows.front().row.record, record, Unknown::ignore));
  return record;
}

}  // namespace

Result<std::vector<Range>> live_ranges(store::Store& store, const SessionId& session,
                                       const ThreadId& thread, Sequence up_to, Sequence down_to) {
  std::vector<Range> out;
  while (up_to > down_to) {
    TRY_ASSIGN(const auto rollback, rollback_before(store, session, thread, up_to));
    const Sequence after = rollback ? rollback->sequence : 0;
    if (after < up_to) out.push_back({session, thread, std::max(after, down_to), up_to});
    if (!rollback) break;
    // A range that would not shrink is that of a damaged row.
    if (rollback->baseline_sequence >= up_to)
      return fail(Code::internal, "the row of a rollback is damaged");
    up_to = rollback->baseline_sequence;
  }
  return out;
}

bool contains(const std::vector<Range>& ranges, Sequence sequence) {
  return std::ranges::any_of(ranges, [&](const Range& range) {
    return range.after < sequence && sequence <= range.up_to;
  });
}

}  // namespace agentrt::conversation
