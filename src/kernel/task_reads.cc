#include "kernel/task_reads.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <map>
#include <set>

#include <fmt/format.h>

#include "kernel/history/removed_part.h"
#include "kernel/reads.h"
#include "kernel/turn_ends.h"
#include "schema/outputs.h"
#include "state/index.h"
#include "state/read_models.h"

namespace agentrt::kernel {
namespace {

using namespace schema;
using state::Task;

constexpr std::size_t kWalkPage = 256;

// Collects records, each once.
class Records {
 public:
  Records(store::Store& store, const SessionId& session, std::size_t depth_max)
      : store_(store), session_(session), depth_max_(depth_max) {}

  // The record; null: there is no such task in this session.
  Result<const Task*> read(const TaskId& id) {
    if (const auto known = tasks_.find(id); known != tasks_.end()) return &known->second;
    TRY_ASSIGN(const auto entry, store_.find(std::string(state::kTaskKind), id.text()));
    if (!entry) return nullptr;
    if (entry->session != session_) {
      foreign_.emplace(id, entry->session);
      return nullptr;
    }
    return keep(entry->row);
  }
  Result<const Task*> keep(const store::IndexRow& row) {
    TRY_ASSIGN(Task task, state::decode_task(row.record));
    if (task.first == 0) task.first = row.first;
    TaskId id = task.task_id;
    return &tasks_.insert_or_assign(std::move(id), std::move(task)).first->second;
  }
  Result<void> read_with_ancestors(TaskId id) {
    for (std::size_t depth = 0; depth <= depth_max_ + 1; ++depth) {
      TRY_ASSIGN(const Task* task, read(id));
      if (!task || !task->parent_task_id) return {};
      id = *task->parent_task_id;
    }
    return {};
  }

  std::map<TaskId, Task>& tasks() { return tasks_; }
  std::map<TaskId, SessionId>& foreign() { return foreign_; }

 private:
  store::Store& store_;
  const SessionId& session_;
  std::size_t depth_max_;
  std::map<TaskId, Task> tasks_;
  std::map<TaskId, SessionId> foreign_;
};

// Visits the tasks that wait for `walk.from`, nearest first, until one of `walk.to` is found.
Result<void> walk_graph(store::Store& store, const SessionId& session,
                        const control::Needs::Walk& walk, control::LaneReads& named) {
  Records records(store, session, 0);
  std::map<TaskId, TaskId> reached_by;  // each task, with the one that it waits for
  std::deque<TaskId> ahead{walk.from};
  reached_by.emplace(walk.from, walk.from);
  const auto reach = [&](const TaskId& id, const TaskId& by) {
    if (reached_by.emplace(id, by).second) ahead.push_back(id);
  };
  while (!ahead.empty()) {
    const TaskId at = ahead.front();
    ahead.pop_front();
    if (std::ranges::find(walk.to, at) != walk.to.end()) {
      for (TaskId step = at;; step = reached_by.at(step)) {
        named.cycle.push_back(step);
        if (step == walk.from) break;
      }
      return {};
    }
    if (reached_by.size() > control::kTaskWalkMax) {
      named.walk_cut = true;
      return {};
    }
    TRY_ASSIGN(const Task* task, records.read(at));
    if (task && task->parent_task_id) reach(*task->parent_task_id, at);
    store::IndexQuery waiting{.kind = std::string(state::kTaskKind), .session = session};
    waiting.term = "waits=" + at.text();
    waiting.limit = kWalkPage;
    for (;;) {
      TRY_ASSIGN(const auto page, store.list(waiting));
      for (const store::IndexEntry& entry : page) reach(TaskId{entry.row.id}, at);
      if (page.size() < waiting.limit || reached_by.size() > control::kTaskWalkMax) break;
      waiting.before = page.back().row.first;
      waiting.before_id = page.back().row.id;
    }
  }
  return {};
}

template <class Record>
Result<std::optional<Record>> record_of(store::Store& store, std::string_view kind,
                                        const std::string& id) {
  TRY_ASSIGN(const auto found, store.find(std::string(kind), id));
  if (!found) return std::nullopt;
  Record record;
  TRY(from_json(found->row.record, record, Unknown::ignore));
  return record;
}

// The job that works on the task next, or worked on it last.
std::optional<JobId> job_of(const Task& task) {
  if (task.next_worker) return task.next_worker->job_id;
  return task.attempts.empty() ? std::nullopt : task.attempts.back().worker.job_id;
}

// The rows of a job, of one of its items and of its task.
Result<void> read_job(store::Store& store, const control::Needs& needs, Records& records,
                      control::LaneReads& named) {
  std::optional<JobId> id = needs.job;
  if (needs.job_of) {
    TRY_ASSIGN(const Task* task, records.read(*needs.job_of));
    if (task) id = job_of(*task);
  }
  if (!id) return {};
  TRY_ASSIGN(named.job, record_of<JobRecord>(store, kJobKind, id->text()));
  if (!named.job) return {};
  TRY(records.read_with_ancestors(named.job->ids.task));
  if (!needs.job_item) return {};
  TRY_ASSIGN(named.job_item,
             record_of<JobItemRecord>(store, kJobItemKind, job_item_row_id(*id, *needs.job_item)));
  return {};
}

// Whether the output is one of this session and has not expired.
Result<bool> is_stored(store::Store& store, const SessionId& session, const std::string& ref) {
  TRY_ASSIGN(const auto entry, store.find(std::string(kOutputKind), ref));
  return entry && entry->session == session && entry->row.status == kOutputKept;
}

}  // namespace

Result<Gathered> gather(store::Store& store, const SessionId& session, const control::Needs& needs,
                        std::size_t depth_max, ports::FileDigests* files) {
  Gathered out;
  Records records(store, session, depth_max);
  for (const TaskId& id : needs.tasks) TRY(records.read_with_ancestors(id));
  for (const control::Needs::List& list : needs.lists) {
    store::IndexQuery query{.kind = std::string(state::kTaskKind), .session = session};
    query.term = list.term;
    query.limit = list.limit;
    query.oldest_first = list.oldest_first;
    TRY_ASSIGN(const auto page, store.list(query));
    std::vector<TaskId>& ids = out.named.lists.emplace_back();
    for (const store::IndexEntry& entry : page) {
      TRY_ASSIGN(const Task* task, records.keep(entry.row));
      ids.push_back(task->task_id);
      if (task->parent_task_id) TRY(records.read_with_ancestors(*task->parent_task_id));
    }
  }
  TRY(read_job(store, needs, records, out.named));
  if (needs.walk) TRY(walk_graph(store, session, *needs.walk, out.named));
  for (const std::string& ref : needs.refs) {
    TRY_ASSIGN(const bool stored, is_stored(store, session, ref));
    if (!stored) out.named.missing_refs.push_back(ref);
  }
  if (needs.thread) {
    TRY_ASSIGN(const auto closed, store.find(std::string(state::kThreadKind),
                                             state::thread_row_id(session, *needs.thread)));
    out.named.thread_closed = closed.has_value();
  }
  if (needs.ended) {
    TRY_ASSIGN(out.named.ended, find_end(store, session, *needs.ended));
  }
  const auto& ended = out.named.ended;
  if (needs.removal && ended && ended->end > 0 && ended->thread == needs.removal->thread) {
    TRY_ASSIGN(out.named.removed,
               read_removed_part(store, session, *needs.removal, *needs.ended, ended->end, files));
  }
  if (!needs.channels.empty()) {
    TRY_ASSIGN(auto cursors, store.cursors(needs.channels));
    for (ChannelCursor& cursor : cursors)
      out.named.cursors.emplace(cursor.channel, std::move(cursor));
  }
  if (needs.peer_task) {
    TRY_ASSIGN(const auto row, store.find(std::string(state::kPeerTaskKind),
                                          state::peer_task_row_id(needs.peer_task->channel,
                                                                  needs.peer_task->task)));
    if (row) TRY(from_json(row->row.record, out.named.peer_task.emplace(), Unknown::ignore));
  }
  out.named.foreign_tasks = std::move(records.foreign());
  for (auto& [_, task] : records.tasks()) out.tasks.push_back(std::move(task));
  return out;
}

Result<std::vector<Task>> tasks_of_turns(store::Store& store, const state::Session& view,
                                         std::size_t depth_max) {
  Records records(store, view.id, depth_max);
  for (const auto& [_, thread] : view.threads) {
    if (thread.active) TRY(records.read_with_ancestors(thread.active->ids.task));
    for (const state::Turn& turn : thread.queue) TRY(records.read_with_ancestors(turn.ids.task));
  }
  for (const auto& [_, job] : view.jobs) TRY(records.read_with_ancestors(job.record.ids.task));
  std::vector<Task> out;
  for (auto& [_, task] : records.tasks()) out.push_back(std::move(task));
  return out;
}

namespace {

std::unexpected<Error> no_task(const GetTask& query) {
  return fail(Code::not_found, fmt::format("there is no task {}{}", query.task_id.text(),
                                           query.session_id ? " of this session" : ""));
}

std::size_t limit_of(const std::optional<std::uint64_t>& asked, std::size_t standard,
                     const Limits& limits) {
  return std::min<std::size_t>(asked.value_or(standard), limits.page_max);
}

// A place in the attempts, which are numbered from 1, and in the edges, by their index in the
// record: what comes before it was not read yet.
struct TaskPlace {
  std::uint64_t attempt = 0;
  std::uint64_t edge = 0;
};

Result<TaskPlace> read_task_cursor(const GenerationId& generation, const std::string& cursor) {
  const std::size_t dot = cursor.rfind('.');
  TaskPlace place;
  TRY_ASSIGN(place.attempt, read_cursor(generation, std::string_view(cursor).substr(0, dot)));
  const char* end = cursor.data() + cursor.size();
  if (dot + 1 == cursor.size() ||
      std::from_chars(cursor.data() + dot + 1, end, place.edge).ptr != end)
    return fail(Code::invalid_params, "cursor: not a cursor of this task");
  return place;
}

// Keeps the newest `limit` attempts and edges before the place, and sets the cursor if older ones
// exist.
Result<void> cut(store::Store& store, const Task& task, const TaskPlace& place, std::size_t limit,
                 TaskSnapshot& snapshot) {
  const std::uint64_t before = place.attempt;
  if (before <= task.attempts_made) {
    // Older attempts are rows of their own, newest first.
    snapshot.attempts.clear();
    for (const state::TaskAttempt& attempt : task.attempts)
      if (attempt.attempt_count < before)
        snapshot.attempts.push_back(state::attempt_snapshot(attempt));
  }
  std::vector<AttemptSnapshot>& attempts = snapshot.attempts;
  if (attempts.size() > limit)
    attempts.erase(attempts.begin(), attempts.end() - static_cast<std::ptrdiff_t>(limit));
  const bool from_rows = attempts.size() < limit && task.attempts_made > task.attempts.size();
  if (from_rows) {
    const std::uint64_t first = task.attempts.empty() ? 0 : task.attempts.front().attempt_count;
    store::IndexQuery older{.kind = std::string(state::kAttemptKind),
                            .session = snapshot.session_id,
                            .parent = task.task_id.text()};
    older.limit = task.attempts_made - task.attempts.size();
    TRY_ASSIGN(const auto rows, store.list(older));
    for (const store::IndexEntry& row : rows) {
      state::TaskAttempt attempt;
      TRY(from_json(row.row.record, attempt, Unknown::ignore));
      if (attempt.attempt_count >= std::min(before, first) || attempts.size() >= limit) continue;
      attempts.insert(attempts.begin(), state::attempt_snapshot(attempt));
    }
  }
  auto& edges = *snapshot.relationships;
  const auto end = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(place.edge, edges.size()));
  const auto first = std::max<std::ptrdiff_t>(0, end - static_cast<std::ptrdiff_t>(limit));
  edges = {edges.begin() + first, edges.begin() + end};
  const std::uint64_t oldest = attempts.empty() ? 1 : attempts.front().attempt_count;
  if (oldest > 1 || first > 0)
    snapshot.next_cursor = fmt::format("{}.{}", write_cursor(store.generation(), oldest), first);
  return {};
}

}  // namespace

Result<std::string> get_task(store::Store& store, const GetTask& query, const Limits& limits) {
  if (query.limit == 0) return fail(Code::invalid_params, "limit: expected 1 or more");
  TRY_ASSIGN(const auto entry, store.find(std::string(state::kTaskKind), query.task_id.text()));
  if (!entry || (query.session_id && entry->session != *query.session_id)) return no_task(query);
  TRY_ASSIGN(const Task task, state::decode_task(entry->row.record));
  TaskPlace place{task.attempts_made + 1, task.edges.size()};
  if (query.cursor) {
    TRY_ASSIGN(place, read_task_cursor(store.generation(), *query.cursor));
  }
  TaskSnapshot snapshot = state::task_snapshot(entry->session, task);
  TRY_ASSIGN(snapshot.root_task_id, TaskRoots(store).of(task));
  TRY(cut(store, task, place, limit_of(query.limit, state::kAttemptsKept, limits), snapshot));
  return to_json(snapshot);
}

namespace {

// A position in a list: session order, first sequence and id of the last entry read.
struct ListPlace {
  std::uint64_t order = 0;
  Sequence first = 0;
  std::string id;
};

Result<ListPlace> read_place(const GenerationId& generation, std::string_view cursor) {
  const auto wrong = [] { return fail(Code::invalid_params, "cursor: not a cursor of this list"); };
  if (!cursor.starts_with("gen_")) return wrong();
  const std::string own = generation.text() + ".";
  if (!cursor.starts_with(own))
    return fail(Code::gone,
                "cursor: the store was restored since then: start again without a cursor");
  cursor.remove_prefix(own.size());
  ListPlace place;
  for (std::uint64_t* number : {&place.order, &place.first}) {
    const std::size_t dot = cursor.find('.');
    if (dot == std::string_view::npos || dot == 0) return wrong();
    const char* end = cursor.data() + dot;
    if (std::from_chars(cursor.data(), end, *number).ptr != end) return wrong();
    cursor.remove_prefix(dot + 1);
  }
  place.id = cursor;
  return place;
}

bool selected(const ListTasks& query, const Task& task) {
  const auto among = [](const auto& list, const auto& value) {
    return std::ranges::find(list, value) != list.end();
  };
  if (!query.include_internal.value_or(false) && task.visibility == Visibility::internal)
    return false;
  if (query.status && !among(*query.status, task.status)) return false;
  if (query.parent_task_id && task.parent_task_id != *query.parent_task_id) return false;
  if (query.task_kind && task.task_kind != *query.task_kind) return false;
  if (query.assignee && task.assignee != *query.assignee) return false;
  if (!query.thread_id) return true;
  if (task.thread_id == *query.thread_id) return true;
  return !task.attempts.empty() && task.attempts.back().worker.thread_id == *query.thread_id;
}

// The lists that contain everything that the query selects. Several only for several statuses.
std::vector<std::optional<std::string>> terms_of(const ListTasks& query) {
  if (query.parent_task_id) return {"parent=" + query.parent_task_id->text()};
  if (query.include_internal.value_or(false)) return {std::nullopt};
  if (query.assignee) return {"assignee=" + *query.assignee};
  if (query.thread_id) return {"thread=" + query.thread_id->text()};
  if (query.status && !query.status->empty()) {
    std::vector<std::optional<std::string>> out;
    for (const TaskStatus status : *query.status)
      out.push_back("status=" + std::string(name_of(status)));
    return out;
  }
  if (query.task_kind) return {"kind=" + *query.task_kind};
  return {"shown"};
}

// Newest first over all lists.
bool newer(const store::IndexEntry& a, const store::IndexEntry& b) {
  return std::tie(a.session_order, a.row.first, a.row.id) >
         std::tie(b.session_order, b.row.first, b.row.id);
}

Result<std::vector<store::IndexEntry>> read_lists(store::Store& store, const ListTasks& query,
                                                  const std::optional<ListPlace>& place,
                                                  std::size_t limit) {
  std::vector<store::IndexEntry> all;
  for (const std::optional<std::string>& term : terms_of(query)) {
    store::IndexQuery rows{.kind = std::string(state::kTaskKind), .session = query.session_id};
    rows.term = term;
    rows.limit = limit;
    if (place) {
      rows.before = query.session_id ? place->first : place->order;
      rows.before_first = place->first;
      rows.before_id = place->id;
    }
    TRY_ASSIGN(auto page, store.list(rows));
    for (store::IndexEntry& entry : page) all.push_back(std::move(entry));
  }
  std::ranges::sort(all, newer);
  if (all.size() > limit) all.resize(limit);
  return all;
}

}  // namespace

Result<std::string> list_tasks(store::Store& store, const ListTasks& query, const Limits& limits) {
  if (query.limit == 0) return fail(Code::invalid_params, "limit: expected 1 or more");
  TRY(check_session(store, query.session_id));
  const std::size_t wanted = limit_of(query.limit, limits.page_turns_default, limits);
  std::optional<ListPlace> place;
  if (query.cursor) {
    TRY_ASSIGN(place, read_place(store.generation(), *query.cursor));
  }
  TaskRoots roots(store);
  std::string out = R"({"data":[)";
  std::size_t found = 0;
  std::size_t scanned = 0;
  bool more = true;
  while (more && found < wanted && scanned < limits.tasks_scanned_max &&
         out.size() < limits.page_bytes_max) {
    TRY_ASSIGN(const auto page, read_lists(store, query, place, wanted));
    more = page.size() == wanted;
    for (const store::IndexEntry& entry : page) {
      if (found == wanted) {
        more = true;
        break;
      }
      ++scanned;
      place = ListPlace{entry.session_order, entry.row.first, entry.row.id};
      TRY_ASSIGN(const Task task, state::decode_task(entry.row.record));
      if (!selected(query, task)) continue;
      if (found++ > 0) out += ',';
      TRY_ASSIGN(const TaskSnapshot snapshot, listed_task(entry, roots));
      out += to_json(snapshot);
    }
  }
  out += ']';
  if (more && place) {
    out += R"(,"nextCursor":)";
    write_string(out, fmt::format("{}.{}.{}.{}", store.generation().text(), place->order,
                                  place->first, place->id));
  }
  return out + "}";
}

Result<TaskId> TaskRoots::of(const state::Task& task) {
  std::vector<TaskId> path;  // up to the root
  TaskId at = task.task_id;
  std::optional<TaskId> above = task.parent_task_id;
  while (above && path.size() < kLevelsMax) {
    if (const auto known = roots_.find(at); known != roots_.end()) {
      at = known->second;
      break;
    }
    path.push_back(std::exchange(at, *above));
    TRY_ASSIGN(const auto entry, store_.find(std::string(state::kTaskKind), at.text()));
    if (!entry) break;
    TRY_ASSIGN(const Task parent, state::decode_task(entry->row.record));
    above = parent.parent_task_id;
  }
  for (TaskId& id : path) roots_.insert_or_assign(std::move(id), at);
  return at;
}

Result<TaskSnapshot> listed_task(const store::IndexEntry& entry, TaskRoots& roots) {
  TRY_ASSIGN(const Task task, state::decode_task(entry.row.record));
  TaskSnapshot snapshot = state::task_snapshot(entry.session, task);
  TRY_ASSIGN(snapshot.root_task_id, roots.of(task));
  if (snapshot.attempts.size() > 1)
    snapshot.attempts.erase(snapshot.attempts.begin(), snapshot.attempts.end() - 1);
  return snapshot;
}

Result<std::vector<TaskSnapshot>> open_tasks(store::Store& store, const SessionId& session,
                                             const std::optional<ThreadId>& thread,
                                             std::size_t limit) {
  ListTasks query;
  query.session_id = session;
  query.thread_id = thread;
  if (!thread)
    query.status = {TaskStatus::draft,
                    TaskStatus::accepted,
                    TaskStatus::queued,
                    TaskStatus::preparing,
                    TaskStatus::running,
                    TaskStatus::waiting_input,
                    TaskStatus::waiting_permission,
                    TaskStatus::waiting_resource,
                    TaskStatus::blocked,
                    TaskStatus::paused,
                    TaskStatus::retrying,
                    TaskStatus::cancelling};
  TRY_ASSIGN(const auto rows, read_lists(store, query, std::nullopt, limit));
  TaskRoots roots(store);
  std::vector<TaskSnapshot> out;
  for (const store::IndexEntry& entry : rows) {
    TRY_ASSIGN(TaskSnapshot snapshot, listed_task(entry, roots));
    if (!ended(snapshot.status)) out.push_back(std::move(snapshot));
  }
  return out;
}

}  // namespace agentrt::kernel
