// state/tasks_test.cc: tests the records of tasks.
#include <doctest/doctest.h>

#include "state/index.h"
#include "state/read_models.h"
#include "state/testing/given.h"

namespace agentrt::state {
namespace {

using namespace schema;

// Folds facts of tasks without a view.
class Log {
 public:
  template <class P>
  Log& add(const typename P::Scope& scope, P payload) {
    Draft draft{scope, std::move(payload)};
    fold_tasks(tasks, Fact{++sequence_, at, std::move(draft.ids), std::move(draft.payload)},
               changes);
    return *this;
  }
  TaskScope of(const std::string& id) const { return {kSession, TaskId{id}}; }
  AttemptScope run(const std::string& id, const std::string& name) const {
    return {of(id), RunId{"run_" + name}, AttemptId{"attempt_" + name}};
  }
  Log& created(const std::string& id) {
    return add(of(id), TaskCreated{.visibility = Visibility::foreground,
                                   .objective = "do " + id,
                                   .task_kind = "task"});
  }
  Log& started(const std::string& id, const std::string& name) {
    add(of(id), TaskStarted{});
    return add(run(id, name),
               TaskAttemptStarted{.attempt_count = task(id).attempts_made + 1,
                                  .boot_id = kBoot,
                                  .worker = TaskWorker{WorkerKind::external, {}, {}, "ci"}});
  }
  Log& failed(const std::string& id, const std::string& name) {
    return add(run(id, name), TaskAttemptFailed{.error = {Category::internal, "no", true}});
  }
  Log& edge(const std::string& id, const std::string& kind, const std::string& target,
            const std::string& status = "active") {
    return add(of(id),
               TaskDependencyUpdated{.relationship = kind, .target_id = target, .status = status});
  }
  const Task& task(const std::string& id) const { return *tasks.find(TaskId{id}); }
  bool listed(const std::string& id, const std::string& term) const {
    const auto terms = terms_of(task(id));
    return std::ranges::find(terms, term) != terms.end();
  }

  Tasks tasks;
  TaskChanges changes;
  Timestamp at = kStart;

 private:
  Sequence sequence_ = 0;
};

}  // namespace

TEST_CASE("attempts are never dropped: old ones leave the record for rows of their own") {
  Log log;
  log.created("a");
  for (std::size_t i = 0; i < kAttemptsKept + 3; ++i) {
    log.started("a", std::to_string(i)).failed("a", std::to_string(i));
    log.add(log.of("a"), TaskRetrying{});
  }
  CHECK(log.task("a").attempts.size() == kAttemptsKept);
  CHECK(log.task("a").attempts.front().attempt_count == 4);
  REQUIRE(log.changes.set_aside.size() == 3);
  CHECK(log.changes.set_aside[2].second.status == Status::failed);
  const auto rows = task_rows(log.tasks, log.changes);
  CHECK(rows.size() == 4);
  CHECK(rows[1].kind == kAttemptKind);
  CHECK(rows[1].parent == "a");
}

TEST_CASE("a parent counts its children, and a dependency its dependants") {
  Log log;
  log.created("p").created("c").created("d");
  log.edge("c", "parent", "p").edge("d", "parent", "p").edge("d", "blocked_by", "c");
  CHECK(log.task("p").children_open == 2);
  CHECK(log.task("c").dependants == 1);
  CHECK(log.listed("d", "waits=c"));
  CHECK(log.listed("c", "live=p"));
  CHECK_FALSE(is_free(log.task("d")));
  log.started("c", "1");
  CHECK_FALSE(continues(log.task("c")));
  log.add(log.run("c", "1"), TaskAttemptCompleted{});
  log.add(log.of("c"), TaskCompleted{});
  CHECK(log.task("p").children_open == 1);
  CHECK(log.task("p").children_completed == 1);
  CHECK(continues(log.task("c")));
  log.edge("d", "blocked_by", "c", "satisfied");
  CHECK_FALSE(continues(log.task("c")));
  CHECK(is_free(log.task("d")));
  log.add(log.of("c"), TaskArchived{});
  CHECK(log.task("p").children_completed == 1);
  log.edge("d", "parent", "p", "removed");
  CHECK(log.task("p").children == 1);
}

TEST_CASE("the lists of a task follow its state") {
  Log log;
  log.created("a");
  CHECK(log.listed("a", "shown"));
  CHECK(log.listed("a", "free"));
  CHECK(log.listed("a", "free:task"));
  log.add(log.of("a"), TaskUpdated{.assignee = "bob"});
  CHECK(log.listed("a", "free@bob"));
  CHECK_FALSE(log.listed("a", "free"));
  log.started("a", "1");
  CHECK(log.listed("a", "status=running"));
  CHECK(log.listed("a", "beats"));
  CHECK_FALSE(log.listed("a", "free@bob"));
  Log internal;
  internal.add(turn_scope("1"), TaskCreated{.objective = "x", .task_kind = "turn"});
  CHECK(terms_of(internal.task("task_1")).empty());
}

TEST_CASE("the earliest time limit is the due time, and ends clear it") {
  Log log;
  log.add(log.of("a"),
          TaskCreated{.task_kind = "task",
                      .constraints = TaskConstraints{.timeout_ms = 100, .deadline_ms = 1'000}});
  CHECK(due_of(log.task("a")) == kStart + 1'000);
  log.started("a", "1");
  CHECK(due_of(log.task("a")) == kStart + 100);
  log.failed("a", "1");
  log.add(log.of("a"), TaskRetrying{.retry_at = kStart + 50, .retry_in_ms = 50});
  CHECK(due_of(log.task("a")) == kStart + 50);
  log.add(log.of("a"), TaskTimedOut{});
  CHECK_FALSE(due_of(log.task("a")));
}

TEST_CASE("records survive their encoding, and old ones are converted") {
  Log log;
  log.created("a").started("a", "1").failed("a", "1");
  const auto read = decode_task(encode(log.task("a")));
  REQUIRE(read);
  CHECK(*read == log.task("a"));
  const auto old = decode_task(
      R"({"taskId":"t","sessionId":"s","threadId":"th","turnId":"u","objective":"o",)"
      R"("taskKind":"turn","visibility":"foreground","status":"failed","currentRunId":"r",)"
      R"("attempts":[{"runId":"r","attemptId":"a","status":"failed","nativeStatus":"failed",)"
      R"("attemptCount":1,"endedAt":"2026-05-08T02:30:00.000Z"}],)"
      R"("createdAt":"2026-05-08T02:30:00.000Z"})");
  REQUIRE(old);
  CHECK(old->attempts_made == 1);
  CHECK(old->attempts[0].worker.thread_id == ThreadId{"th"});
  CHECK_FALSE(old->current_run_id);
}

TEST_CASE("a fact about an unknown task changes nothing") {
  Log log;
  log.add(log.of("x"), TaskCompleted{});
  CHECK(log.tasks.size() == 0);
  CHECK(log.changes.tasks.empty());
}

}  // namespace agentrt::state
