#include "kernel/loader.h"

#include "kernel/task_reads.h"

#include <fmt/format.h>

namespace agentrt::kernel {
namespace {

constexpr std::size_t kPageEvents = 512;
constexpr std::size_t kPageBytes = 1 << 20;

// Decodes a snapshot, or returns why it cannot be used.
Result<state::Session> from_snapshot(const store::Snapshot& snapshot, const SessionId& session) {
  if (snapshot.fold_version != state::kFoldVersion) return fail(Code::internal, "fold_version");
  state::Session view;
  if (!schema::check_json(snapshot.bytes) ||
      !schema::from_json(snapshot.bytes, view, schema::Unknown::ignore) ||
      view.sequence != snapshot.sequence || view.id != session)
    return fail(Code::internal, "damaged");
  return view;
}

Result<void> fold_tail(store::Store& store, state::Session& view, const SessionId& session) {
  for (;;) {
    TRY_ASSIGN(const auto page, store.events(session, view.sequence, kPageEvents, kPageBytes));
    if (page.empty()) return {};
    for (const store::Event& stored : page) {
      TRY_ASSIGN(const schema::Fact fact, schema::decode(stored.event));
      state::fold(view, fact);
    }
  }
}

}  // namespace

Result<Loaded> load(store::Store& store, const SessionId& session, std::size_t task_depth_max) {
  Loaded loaded;
  loaded.view.id = session;
  TRY_ASSIGN(const Sequence head, store.head(session));
  if (head == 0) return loaded;
  TRY_ASSIGN(const auto snapshot, store.snapshot(session));
  if (snapshot) {
    auto view = from_snapshot(*snapshot, session);
    if (view)
      loaded.view = *std::move(view);
    else
      loaded.repaired = view.error().message;
  }
  TRY(fold_tail(store, loaded.view, session));
  if (!snapshot && loaded.view.snapshot > 0) loaded.repaired = "missing";
  TRY_ASSIGN(loaded.tasks, tasks_of_turns(store, loaded.view, task_depth_max));
  return loaded;
}

store::IndexRow to_row(state::ObjectRow row) {
  return {.kind = std::move(row.kind),
          .id = std::move(row.id),
          .parent = std::move(row.parent),
          .first = row.first,
          .status = std::move(row.status),
          .open = row.open,
          .record = std::move(row.record),
          .terms = std::move(row.terms),
          .due = row.due,
          .changed = row.changed};
}

Result<void> rebuild_index(store::Store& store, const SessionId& session) {
  state::Session view;
  state::Tasks tasks;
  view.id = session;
  std::optional<Error> damaged;
  TRY(store.rebuild(session, [&](const schema::StoredEvent& event) {
    std::vector<store::IndexRow> rows;
    const auto fact = schema::decode(event);
    if (!fact) {
      damaged = fact.error();
      return rows;
    }
    state::fold(view, *fact);
    for (state::ObjectRow& row : state::index(view, *fact)) rows.push_back(to_row(std::move(row)));
    state::TaskChanges changes;
    state::fold_tasks(tasks, *fact, changes);
    for (state::ObjectRow& row : state::task_rows(tasks, changes))
      rows.push_back(to_row(std::move(row)));
    return rows;
  }));
  if (damaged) return std::unexpected(*damaged);
  return {};
}

}  // namespace agentrt::kernel
