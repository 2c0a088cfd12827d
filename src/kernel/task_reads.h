// kernel/task_reads.h: reads tasks from their index rows: for decisions (control::Needs) and for
// the commands get_task and list_tasks. All of them block and run on a worker.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "control/decide.h"
#include "kernel/limits.h"
#include "ports/file_digests.h"
#include "store/store.h"

namespace agentrt::kernel {

// What a decision needs (control::Needs), as the store has it.
struct Gathered {
  std::vector<state::Task> tasks;
  control::LaneReads named;
};
// `files`: as read_removed_part(). Errors: those of the store; `internal` if a row is damaged;
// those of read_removed_part().
Result<Gathered> gather(store::Store& store, const SessionId& session, const control::Needs& needs,
                        std::size_t depth_max, ports::FileDigests* files);

// The records of the tasks of running and queued turns, with their ancestors.
Result<std::vector<state::Task>> tasks_of_turns(store::Store& store, const state::Session& view,
                                                std::size_t depth_max);

// The JSON of the replies.
Result<std::string> get_task(store::Store& store, const schema::GetTask& query,
                             const Limits& limits);
Result<std::string> list_tasks(store::Store& store, const schema::ListTasks& query,
                               const Limits& limits);
// The newest tasks of a session, or of one of its threads, that have not ended, for a snapshot.
Result<std::vector<schema::TaskSnapshot>> open_tasks(store::Store& store, const SessionId& session,
                                                     const std::optional<ThreadId>& thread,
                                                     std::size_t limit);

// Finds the roots of tasks: the task without a parent above each. Keeps what it has found, so that
// a list of siblings reads their ancestors once.
class TaskRoots {
 public:
  explicit TaskRoots(store::Store& store) : store_(store) {}

  Result<TaskId> of(const state::Task& task);

 private:
  static constexpr std::size_t kLevelsMax = 10'000;  // in case a damaged store has a cycle

  store::Store& store_;
  std::map<TaskId, TaskId> roots_;
};

// The record as an entry of a list: with its newest attempt alone.
Result<schema::TaskSnapshot> listed_task(const store::IndexEntry& entry, TaskRoots& roots);

}  // namespace agentrt::kernel
