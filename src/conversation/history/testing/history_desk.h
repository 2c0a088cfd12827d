// conversation/history/testing/history_desk.h: a given log in a store, and the conversations that
// are read from it.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "conversation/history/history.h"
#include "state/index.h"
#include "state/testing/given.h"
#include "store/memory/memory_store.h"

namespace agentrt::conversation {

using Lines = std::vector<std::string>;

// A given log in its own store, and queries about it as the engine makes them.
struct HistoryDesk {
  explicit HistoryDesk(const state::Given& given) : view(given.view()) {
    store::Append append;
    append.session = state::kSession;
    state::Session folded;
    folded.id = state::kSession;
    for (const schema::Fact& fact : given.log()) {
      schema::Draft draft{schema::SessionScope{state::kSession}, schema::SessionCreated{}};
      draft.ids = fact.ids;
      draft.payload = fact.payload;
      append.events.push_back(schema::encode(draft, fact.sequence, fact.at, store.runtime()));
      state::fold(folded, fact);
      for (state::ObjectRow& row : state::index(folded, fact)) {
        std::erase_if(append.index,
                      [&](const auto& each) { return each.kind == row.kind && each.id == row.id; });
        append.index.push_back(
            {row.kind, row.id, row.parent, row.first, row.status, row.open, row.record});
      }
    }
    REQUIRE(store.commit(std::span(&append, 1)).front().has_value());
  }
  ports::HistoryQuery query(const std::string& turn) const {
    const state::Turn* own = state::find_turn(view, state::turn_ids(turn).turn);
    REQUIRE(own != nullptr);
    ports::HistoryQuery out;
    out.session = state::kSession;
    out.thread = own->ids.thread;
    out.turn = own->ids.turn;
    out.submitted = own->submitted;
    out.up_to = view.sequence;
    out.catalog = own->catalog;
    const state::Thread& thread = view.threads.at(out.thread);
    if (thread.rollback) out.rolled_back = thread.rollback->at;
    if (thread.fork)
      for (const schema::InheritedPart& part : thread.fork->parts)
        out.inherited.push_back({state::kSession, part.thread_id, part.up_to});
    if (!thread.boundaries.empty()) {
      out.covered_in = state::kSession;
      out.covered_through = thread.boundaries.back().covers_through;
      out.continuation_ref = thread.boundaries.back().continuation_ref;
    }
    return out;
  }
  ports::HistoryWindow window(const std::string& turn) const {
    KeptConversations none{0};
    return window(none, query(turn));
  }
  ports::HistoryWindow window(KeptConversations& kept, const ports::HistoryQuery& asked) const {
    auto found = history_window(store, asked, kept);
    REQUIRE(found.has_value());
    return *std::move(found);
  }

  mutable store::MemoryStore store;
  state::Session view;
};

inline Lines told(const std::vector<ports::Message>& messages) {
  Lines out;
  for (const ports::Message& message : messages) {
    std::string line = std::string(schema::name_of(message.role)) + ": " + message.text;
    for (const ports::MadeCall& made : message.calls) line += " " + made.id.text() + made.args.text;
    if (message.answers) line += " for " + message.answers.text();
    if (message.is_error) line += " (error)";
    out.push_back(line);
  }
  return out;
}

}  // namespace agentrt::conversation
