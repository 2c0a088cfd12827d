#include "kernel/session_reads.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include <fmt/format.h>

#include "kernel/channels/channel_reads.h"
#include "kernel/reads.h"
#include "kernel/task_reads.h"
#include "state/index.h"
#include "state/read_models.h"

namespace agentrt::kernel {

using namespace schema;

namespace {

constexpr std::size_t kOpenTasksShown = 100;

// A place among the threads that are not open, newest first: the sequence of the newest turn of a
// thread in the view, or of the end of a closed one, which come after those.
struct ThreadPlace {
  bool closed = false;
  Sequence sequence = 0;
  std::string id;

  auto key() const { return std::tuple(!closed, sequence, id); }
};

std::string write_place(const GenerationId& generation, const ThreadPlace& place) {
  return fmt::format("{}.{}{}:{}", generation.text(), place.closed ? 'c' : 'o', place.sequence,
                     place.id);
}

Result<ThreadPlace> read_place(const GenerationId& generation, std::string_view cursor) {
  const auto wrong = [] {
    return fail(Code::invalid_params, "threadsCursor: not a cursor of this list");
  };
  const std::size_t dot = cursor.find('.');
  const std::size_t colon = cursor.find(':', dot);
  if (!cursor.starts_with("gen_") || colon == cursor.npos || colon < dot + 3) return wrong();
  if (cursor.substr(0, dot) != generation.text())
    return fail(Code::gone,
                "threadsCursor: the store was restored since then: start again without a cursor");
  const char kind = cursor[dot + 1];
  const auto number = number_of(cursor.substr(dot + 2, colon - dot - 2));
  if (!number || (kind != 'c' && kind != 'o')) return wrong();
  return ThreadPlace{kind == 'c', *number, std::string(cursor.substr(colon + 1))};
}

bool is_open(const state::Thread& thread) { return thread.active || !thread.queue.empty(); }

ThreadPlace place_of(const state::Thread& thread) {
  return {false, thread.last ? thread.last->submitted : 0, thread.id.text()};
}

// What the row of a closed thread says, as an entry of the session's snapshot.
Result<ThreadSnapshot> closed_thread(const std::string& record) {
  ThreadRead read;
  TRY(from_json(record, read, Unknown::ignore));
  ThreadSnapshot out;
  out.thread_id = read.thread_id;
  out.status = public_status(read.status);
  out.status_detail = read.status;
  out.status_reason = read.status_reason;
  out.incidents = read.incidents;
  out.last_outcome = read.last_outcome;
  out.forked_from = read.forked_from;
  return out;
}

// One page of the threads that are not open.
class RestingThreads {
 public:
  RestingThreads(store::Store& store, const state::Session& view, std::size_t limit)
      : store_(store), view_(view), limit_(limit) {}

  Result<void> read(const std::optional<ThreadPlace>& after) {
    if (!after || !after->closed) from_view(after);
    if (places_.size() <= limit_) TRY(from_rows(after && after->closed ? after : std::nullopt));
    return {};
  }
  // Adds the page to `out`, and the cursor if more follow.
  void take(SessionSnapshot& out) {
    const bool more = places_.size() > limit_;
    if (more) {
      found_.resize(limit_);
      out.threads_cursor = write_place(store_.generation(), places_[limit_ - 1]);
    }
    for (ThreadSnapshot& each : found_) out.threads.push_back(std::move(each));
  }

 private:
  void from_view(const std::optional<ThreadPlace>& after) {
    std::vector<const state::Thread*> all;
    for (const auto& [_, thread] : view_.threads)
      if (!is_open(thread) && (!after || place_of(thread).key() < after->key()))
        all.push_back(&thread);
    std::ranges::sort(all, std::greater<>{},
                      [](const state::Thread* each) { return place_of(*each).key(); });
    for (const state::Thread* thread : all) {
      if (places_.size() > limit_) return;
      places_.push_back(place_of(*thread));
      found_.push_back(state::thread_snapshot(view_, *thread));
    }
  }
  Result<void> from_rows(const std::optional<ThreadPlace>& after) {
    if (view_.threads_closed == 0) return {};
    store::IndexQuery rows{.kind = std::string(state::kThreadKind), .session = view_.id};
    rows.limit = limit_ + 1 - places_.size();
    if (after) {
      rows.before = after->sequence;
      rows.before_id = after->id;
    }
    TRY_ASSIGN(const auto entries, store_.list(rows));
    for (const store::IndexEntry& entry : entries) {
      TRY_ASSIGN(ThreadSnapshot thread, closed_thread(entry.row.record));
      places_.push_back({true, entry.row.first, entry.row.id});
      found_.push_back(std::move(thread));
    }
    return {};
  }

  store::Store& store_;
  const state::Session& view_;
  const std::size_t limit_;
  std::vector<ThreadPlace> places_;
  std::vector<ThreadSnapshot> found_;
};

Result<void> add_threads(store::Store& store, const state::Session& view, const GetSession& query,
                         const Limits& limits, SessionSnapshot& out) {
  out.threads.clear();
  std::optional<ThreadPlace> after;
  if (query.threads_cursor) {
    TRY_ASSIGN(after, read_place(store.generation(), *query.threads_cursor));
  }
  for (const auto& [id, thread] : view.threads)
    if (is_open(thread) && !after) out.threads.push_back(state::thread_snapshot(view, thread));
  RestingThreads resting{store, view, limits.threads_shown};
  TRY(resting.read(after));
  resting.take(out);
  return {};
}

// Adds open tasks from rows, unless a turn works on them.
void add_tasks(std::vector<TaskSnapshot> open, std::vector<TaskSnapshot>& out) {
  for (TaskSnapshot& task : open)
    if (std::ranges::find(out, task.task_id, &TaskSnapshot::task_id) == out.end())
      out.push_back(std::move(task));
}

bool runs_on(const JobRecord& job, const ThreadId& thread) {
  return std::ranges::find(job.threads, thread) != job.threads.end();
}

// The jobs that a thread shows: see ThreadRead::jobs.
Result<std::vector<JobSummary>> jobs_of(store::Store& store, const state::Session& view,
                                        const ThreadId& thread) {
  std::vector<JobSummary> out;
  const bool of_job = std::ranges::any_of(
      view.jobs, [&](const auto& entry) { return runs_on(entry.second.record, thread); });
  for (const auto& [_, job] : view.jobs) {
    bool shown = runs_on(job.record, thread);
    if (!of_job) {
      TRY_ASSIGN(const auto entry,
                 store.find(std::string(state::kTaskKind), job.record.ids.task.text()));
      if (!entry) continue;
      TRY_ASSIGN(const state::Task task, state::decode_task(entry->row.record));
      shown = !task.thread_id || *task.thread_id == thread;
    }
    if (shown) out.push_back(state::job_summary(view.id, job.record));
  }
  return out;
}

}  // namespace

std::unexpected<Error> no_thread(const SessionId& session, const ThreadId& thread) {
  return fail(Code::not_found, fmt::format("there is no thread {} in this session: agentrt show {} "
                                           "lists its threads",
                                           thread.text(), session.text()));
}

Result<bool> has_thread(store::Store& store, const state::Session& view, const ThreadId& thread) {
  if (state::find_thread(view, thread)) return true;
  TRY_ASSIGN(const auto row,
             store.find(std::string(state::kThreadKind), state::thread_row_id(view.id, thread)));
  return row.has_value();
}

Result<SessionSnapshot> read_session(store::Store& store, const state::Session& view,
                                     const GetSession& query, const Limits& limits) {
  if (query.thread_id) {
    TRY_ASSIGN(const bool known, has_thread(store, view, *query.thread_id));
    if (!known) return no_thread(view.id, *query.thread_id);
  }
  SessionSnapshot out = state::session_snapshot(view);
  TRY(add_threads(store, view, query, limits, out));
  TRY(add_history(store, query, limits, out));
  TRY_ASSIGN(auto open, open_tasks(store, view.id, std::nullopt, kOpenTasksShown));
  add_tasks(std::move(open), out.tasks);
  TRY(complete_channels(store, out.channel_summary.channels, limits));
  return out;
}

Result<ThreadRead> read_thread(store::Store& store, const state::Session& view,
                               const ThreadId& thread, const Limits&) {
  ThreadRead out;
  if (const state::Thread* open = state::find_thread(view, thread)) {
    out = state::thread_read(view, *open);
    TRY_ASSIGN(auto tasks, open_tasks(store, view.id, thread, kOpenTasksShown));
    add_tasks(std::move(tasks), out.tasks);
    TRY_ASSIGN(out.jobs, jobs_of(store, view, thread));
  } else {
    // A closed thread is not in the view; its last state is a row.
    TRY_ASSIGN(const auto row,
               store.find(std::string(state::kThreadKind), state::thread_row_id(view.id, thread)));
    if (!row) return no_thread(view.id, thread);
    TRY(from_json(row->row.record, out, Unknown::ignore));
    out.as_of_sequence = view.sequence;
  }
  out.generation = store.generation();
  return out;
}

}  // namespace agentrt::kernel
