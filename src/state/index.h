// state/index.h: the index rows that a fact causes.
//
// Rows make any object findable by its id alone, tell at start-up what is open, and hold the
// windows of old turns. They are derived: index() is a pure function of the view after a fact and
// of the fact, so the store writes them in the append's own transaction and can rebuild them by
// folding the log again.
#pragma once

#include <string>
#include <vector>

#include "state/session.h"

namespace agentrt::state {

// What the store keeps of one object; store::IndexRow has the same members.
struct ObjectRow {
  std::string kind;  // session, turn, task, output
  std::string id;
  std::string parent;  // a turn's thread
  Sequence first = 0;
  std::string status;
  bool open = false;
  std::string record;  // SessionSummary, TurnSnapshot, TaskSnapshot or OutputRecord

  bool operator==(const ObjectRow&) const = default;
};

// REQUIRES: `fact` was the last one folded into `session`.
std::vector<ObjectRow> index(const Session& session, const schema::Fact& fact);

}  // namespace agentrt::state
