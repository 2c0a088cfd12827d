// kernel/models/task_snapshot.cc: the tasks of a session by what they need from a reader: active,
// waiting, failed, lost, and ended recently. Internal tasks are left out, as in list_tasks.
#include <algorithm>
#include <initializer_list>

#include "kernel/models/models.h"
#include "kernel/task_reads.h"

namespace agentrt::kernel::models {

using namespace schema;

namespace {

struct Group {
  std::uint64_t total = 0;
  std::vector<TaskSnapshot> tasks;  // the newest
};
BOOST_DESCRIBE_STRUCT(Group, (), (total, tasks))

struct Model {
  SessionId session_id;
  std::optional<ThreadId> thread_id;
  Group active;
  Group waiting;
  Group failed;
  Group lost;
  Group ended;
  // Of a thread with very many tasks: only the newest were counted.
  std::optional<bool> truncated;
};
BOOST_DESCRIBE_STRUCT(Model, (),
                      (session_id, thread_id, active, waiting, failed, lost, ended, truncated))

using Words = std::initializer_list<TaskStatus>;
constexpr Words kActive{TaskStatus::preparing, TaskStatus::running, TaskStatus::retrying,
                        TaskStatus::cancelling};
constexpr Words kWaiting{TaskStatus::draft,         TaskStatus::accepted,
                         TaskStatus::queued,        TaskStatus::blocked,
                         TaskStatus::waiting_input, TaskStatus::waiting_permission,
                         TaskStatus::paused,        TaskStatus::waiting_resource};
constexpr Words kFailed{TaskStatus::failed, TaskStatus::timed_out};
constexpr Words kLost{TaskStatus::lost};
constexpr Words kEnded{TaskStatus::completed, TaskStatus::cancelled, TaskStatus::archived};

store::IndexQuery tasks_of(const Source& source, std::string term) {
  store::IndexQuery query{.kind = std::string(state::kTaskKind), .session = source.view.id};
  query.term = std::move(term);
  query.limit = source.limits.model_entries_max;
  return query;
}

Result<Group> read_group(const Source& source, Words words) {
  Group group;
  std::vector<store::IndexEntry> all;
  for (const TaskStatus word : words) {
    const store::IndexQuery query = tasks_of(source, "status=" + std::string(name_of(word)));
    TRY_ASSIGN(const std::uint64_t count, source.store.count(query));
    group.total += count;
    TRY_ASSIGN(auto page, source.store.list(query));
    for (store::IndexEntry& entry : page) all.push_back(std::move(entry));
  }
  std::ranges::sort(all, [](const auto& a, const auto& b) {
    return std::tie(a.row.first, a.row.id) > std::tie(b.row.first, b.row.id);
  });
  if (all.size() > source.limits.model_entries_max) all.resize(source.limits.model_entries_max);
  TaskRoots roots(source.store);
  for (const store::IndexEntry& entry : all) {
    TRY_ASSIGN(TaskSnapshot task, listed_task(entry, roots));
    group.tasks.push_back(std::move(task));
  }
  return group;
}

Group& group_of(Model& model, TaskStatus status) {
  const auto among = [&](Words words) { return std::ranges::find(words, status) != words.end(); };
  if (among(kActive)) return model.active;
  if (among(kFailed)) return model.failed;
  if (among(kLost)) return model.lost;
  return among(kEnded) ? model.ended : model.waiting;
}

// The tasks of one thread are in one list, whatever their status.
Result<void> read_thread(const Source& source, Model& model) {
  store::IndexQuery query = tasks_of(source, "thread=" + source.thread->text());
  TaskRoots roots(source.store);
  for (std::size_t scanned = 0;;) {
    TRY_ASSIGN(const auto page, source.store.list(query));
    for (const store::IndexEntry& entry : page) {
      TRY_ASSIGN(TaskSnapshot task, listed_task(entry, roots));
      Group& group = group_of(model, task.status);
      ++group.total;
      if (group.tasks.size() < source.limits.model_entries_max)
        group.tasks.push_back(std::move(task));
    }
    if (page.size() < query.limit) return {};
    scanned += page.size();
    if (scanned >= source.limits.tasks_scanned_max) {
      model.truncated = true;
      return {};
    }
    query.before = page.back().row.first;
    query.before_id = page.back().row.id;
  }
}

}  // namespace

Result<std::string> task_snapshot(const Source& source) {
  Model model;
  model.session_id = source.view.id;
  model.thread_id = source.thread;
  if (source.thread) {
    TRY(read_thread(source, model));
    return finished(model, source);
  }
  TRY_ASSIGN(model.active, read_group(source, kActive));
  TRY_ASSIGN(model.waiting, read_group(source, kWaiting));
  TRY_ASSIGN(model.failed, read_group(source, kFailed));
  TRY_ASSIGN(model.lost, read_group(source, kLost));
  TRY_ASSIGN(model.ended, read_group(source, kEnded));
  return finished(model, source);
}

}  // namespace agentrt::kernel::models
