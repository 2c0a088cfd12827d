#include "store/store.h"

#include "store/row_check.h"

namespace agentrt::store {

Result<std::vector<Event>> Store::events_at(const SessionId& session,
                                            std::span<const Sequence> sequences) {
  std::vector<Event> out;
  for (const Sequence sequence : sequences) {
    TRY_ASSIGN(auto page, events(session, sequence - 1, 1, 1));
    if (page.empty()) return std::unexpected(damaged_row(session, sequence, "it is missing"));
    out.push_back(std::move(page.front()));
  }
  return out;
}

}  // namespace agentrt::store
