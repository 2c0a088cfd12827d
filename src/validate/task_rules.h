// validate/task_rules.h: rules for tasks, their attempts, and the edges between tasks.
#pragma once

#include <unordered_map>
#include <vector>

#include "schema/provisional.h"
#include "schema/tasks.h"
#include "validate/rule_context.h"

namespace agentrt::validate {

inline constexpr std::size_t kEdgesMax = 16'384;  // dependencies tracked at once

class TaskRules {
 public:
  explicit TaskRules(RuleContext& hearing) : hearing_(hearing) {}

  void operator()(const schema::TaskCreated& p);
  void operator()(const schema::TaskAccepted& p);
  void operator()(const schema::TaskQueued& p);
  void operator()(const schema::TaskStarted& p);
  void operator()(const schema::TaskUpdated& p);
  void operator()(const schema::TaskProgress& p);
  void operator()(const schema::TaskWaiting& p);
  void operator()(const schema::TaskBlocked& p);
  void operator()(const schema::TaskPaused& p);
  void operator()(const schema::TaskResumed& p);
  void operator()(const schema::TaskRetrying& p);
  void operator()(const schema::TaskCancelRequested& p);
  void operator()(const schema::TaskCancelled& p);
  void operator()(const schema::TaskTimedOut& p);
  void operator()(const schema::TaskFailed& p);
  void operator()(const schema::TaskLost& p);
  void operator()(const schema::TaskCompleted& p);
  void operator()(const schema::TaskArchived& p);
  void operator()(const schema::TaskDelegated& p);
  void operator()(const schema::TaskDependencyUpdated& p);
  void operator()(const schema::TaskAttemptStarted& p);
  void operator()(const schema::TaskAttemptCompleted& p);
  void operator()(const schema::TaskAttemptFailed& p);
  void operator()(const schema::TurnSubmitted& p);
  void operator()(const schema::TurnStarted& p);

 private:
  struct Task {
    schema::TaskStatus status = schema::TaskStatus::accepted;
    bool started = false;
    bool cancelling = false;
    Key turn = 0;          // named at its creation; 0: none
    bool of_turn = false;  // created only for that turn
    std::string attempt;   // the running one; empty: none
    std::uint64_t attempts = 0;
    Key parent = 0;              // 0: none
    std::vector<Key> waits_for;  // tasks that it is blocked by, and that have not completed
  };
  struct Attempt {
    bool open = true;
  };

  Task* task();
  Task* open_task();
  void moves(schema::TaskStatus to);
  schema::TaskStatus said(schema::TaskStatus status, schema::TaskStatus usual);
  void ends(schema::TaskStatus to);
  void nothing_new(const Task& task, std::string_view what);
  void attempt_ended(schema::Status status);
  void pair();
  // Whether the status may follow the one that the task has, by the table in schema/tasks.h.
  void follows(const Task& task, schema::TaskStatus to);
  bool reaches(Key from, Key to) const;
  void remove_edge(Key from, Key to);

  RuleContext& hearing_;
  Table<Task> tasks_;
  Table<Attempt> attempts_;
  Table<Key> attempt_of_run_;
  Table<Key> run_of_attempt_;
  Table<std::string> last_task_;  // by thread: task of the turn that started last
  // The tasks that a task waits for: those that it is blocked by, and its children.
  std::unordered_map<Key, std::vector<Key>> edges_;
  std::size_t edge_count_ = 0;
};

}  // namespace agentrt::validate
