#include "kernel/past/past.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernel/models/models.h"
#include "kernel/past/pages_ahead.h"
#include "kernel/reads.h"
#include "kernel/session_reads.h"

namespace agentrt::kernel {

using namespace schema;

namespace {

Result<void> check_place(store::Store& store, const SessionId& session, Sequence at,
                         const Limits& limits) {
  if (at == 0) return fail(Code::invalid_params, "atSequence: expected 1 or more");
  TRY_ASSIGN(const Sequence head, store.head(session));
  if (head == 0)
    return fail(Code::not_found, fmt::format("there is no session {}", session.text()));
  if (at > head)
    return fail(
        Code::gone,
        fmt::format("atSequence: {} is after the last fact of this session, which is {}", at, head),
        fmt::format(R"({{"lastSequence":{}}})", head));
  if (at > limits.past_facts_max)
    return fail(Code::limit_exceeded,
                fmt::format("atSequence: {} facts would be folded, and the limit is {}: read the "
                            "session without atSequence, or its facts with list_events",
                            at, limits.past_facts_max));
  return {};
}

// Whether snapshots and read models can list the task. A session has an internal task per turn.
bool listed(const state::Task& task) {
  return task.visibility != Visibility::internal || !ended(task.status) || task.parent_task_id;
}

// A cursor of a past reply ends with @SEQUENCE: it goes with the same atSequence.
std::string mark(std::string cursor, Sequence at) { return fmt::format("{}@{}", cursor, at); }

Result<void> unmark(std::optional<std::string>& cursor, std::string_view member, Sequence at) {
  if (!cursor) return {};
  const std::string end = fmt::format("@{}", at);
  if (!cursor->ends_with(end))
    return fail(Code::invalid_params,
                fmt::format("{}: not a cursor of this list at atSequence {}", member, at));
  cursor->resize(cursor->size() - end.size());
  return {};
}

std::size_t turns_of(const std::optional<std::uint64_t>& limit, const Limits& limits) {
  return std::min<std::size_t>(limit.value_or(limits.page_turns_default), limits.page_max);
}

}  // namespace

Result<Past> fold_past(const PastSource& source, const SessionId& session, Sequence at,
                       PastTurns turns) {
  TRY(check_place(source.store, session, at, source.limits));
  Past past;
  past.view.id = session;
  past.rows = std::make_unique<PastStore>(source.store, session, at, std::move(turns));
  state::Tasks tasks;
  state::TaskChanges changed;
  PagesAhead pages(source.store, session, at);
  for (;;) {
    TRY_ASSIGN(const auto page, pages.next());
    if (page.empty()) break;
    if (source.stopped) return fail(Code::unavailable, "the runtime stops");
    for (const store::Event& stored : page) {
      TRY_ASSIGN(const Fact fact, decode(stored.event));
      state::fold(past.view, fact);
      for (state::ObjectRow& row : state::index(past.view, fact, state::RowUse::past))
        past.rows->put(std::move(row));
      state::fold_tasks(tasks, fact, changed);
      changed.set_aside.clear();
    }
  }
  std::erase_if(changed.tasks, [&](const TaskId& id) { return !listed(*tasks.find(id)); });
  for (state::ObjectRow& row : state::task_rows(tasks, changed)) past.rows->put(std::move(row));
  past.rows->finish();
  return past;
}

Result<std::string> past_session(const PastSource& source, GetSession query) {
  const Sequence at = *query.at_sequence;
  TRY(unmark(query.cursor, "cursor", at));
  TRY(unmark(query.threads_cursor, "threadsCursor", at));
  PastTurns turns{{}, query.thread_id, turns_of(query.limit, source.limits)};
  if (query.cursor) {
    TRY_ASSIGN(turns.before, read_cursor(source.store.generation(), *query.cursor));
  }
  TRY_ASSIGN(const Past past, fold_past(source, query.session_id, at, std::move(turns)));
  TRY_ASSIGN(SessionSnapshot read, read_session(*past.rows, past.view, query, source.limits));
  if (read.history_cursor) read.history_cursor = mark(*std::move(read.history_cursor), at);
  if (read.threads_cursor) read.threads_cursor = mark(*std::move(read.threads_cursor), at);
  return to_json(read);
}

Result<std::string> past_thread(const PastSource& source, const GetThreadRead& query) {
  TRY_ASSIGN(const Past past, fold_past(source, query.session_id, *query.at_sequence, {}));
  TRY_ASSIGN(const ThreadRead read,
             read_thread(*past.rows, past.view, query.thread_id, source.limits));
  return to_json(read);
}

Result<std::string> past_model(const PastSource& source, const GetReadModel& query) {
  PastTurns turns{{}, query.thread_id, turns_of({}, source.limits)};
  TRY_ASSIGN(const Past past,
             fold_past(source, query.session_id, *query.at_sequence, std::move(turns)));
  return models::read_model({.store = *past.rows,
                             .view = past.view,
                             .thread = query.thread_id,
                             .boot = {},
                             .settings = source.settings,
                             .policies = nullptr,
                             .limits = source.limits},
                            query.name);
}

}  // namespace agentrt::kernel
