// control/tasks/random_tasks_test.cc: any history of tasks has only legal transitions, loses no
// attempt, keeps the graph acyclic, and can be folded again to the same records.
#include <random>
#include <set>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "control/testing/task_desk.h"

namespace agentrt::control {
namespace {

using namespace schema;

class Worker {
 public:
  explicit Worker(std::uint64_t seed) : dice_(seed) {}

  void step() {
    const std::map<TaskId, state::Task> before = desk_.tasks().records();
    act();
    check(before);
  }
  void finish() {
    for (int i = 0; i < 20; ++i) {
      desk_.wait(60'000);
      desk_.tick();
      desk_.settle();
    }
    for (const auto& [id, task] : desk_.tasks().records()) {
      CAPTURE(id.text());
      CHECK_FALSE(state::continues(task));
      CHECK_FALSE((state::due_of(task) && *state::due_of(task) <= desk_.now()));
    }
  }
  void check_replay() const {
    state::Session view;
    view.id = state::kSession;
    state::Tasks tasks;
    state::TaskChanges changes;
    for (const Fact& fact : desk_.log()) {
      state::fold(view, fact);
      state::fold_tasks(tasks, fact, changes);
    }
    CHECK(view == desk_.view());
    CHECK(tasks.records() == desk_.tasks().records());
    for (const auto& [_, task] : tasks.records()) {
      const auto read = state::decode_task(state::encode(task));
      REQUIRE(read);
      CHECK(*read == task);
    }
  }
  std::size_t facts() const { return desk_.log().size(); }

 private:
  std::uint64_t below(std::uint64_t bound) { return dice_() % bound; }
  std::string some() { return fmt::format("t{}", below(made_ == 0 ? 1 : made_)); }
  // Mostly a recent run.
  std::pair<TaskId, RunId> some_run() {
    if (runs_.empty()) return {TaskId{"t0"}, RunId{"run_none"}};
    return runs_[runs_.size() - 1 - below(std::min<std::size_t>(runs_.size(), 6))];
  }

  void note(const Outcome& outcome) {
    if (std::holds_alternative<Error>(outcome.decision)) return;
    const auto reply = outcome.reply<RunReply>();
    if (reply.run_id) runs_.emplace_back(*reply.task_id, *reply.run_id);
  }
  void act() {
    const TaskId id{some()};
    switch (below(14)) {
      case 0:
      case 1: {
        CreateTask command = new_task(fmt::format("t{}", made_));
        if (made_ > 0 && below(2) == 0) command.parent_task_id = TaskId{some()};
        if (made_ > 0 && below(2) == 0) command.blocked_by = std::vector{TaskId{some()}};
        if (below(2) == 0) command.retry_policy = RetryPolicy{.max_attempts = 1 + below(4)};
        if (below(3) == 0)
          command.constraints = TaskConstraints{.timeout_ms = 1'000, .repeatable = below(2) == 0};
        if (!desk_.command(command).facts.empty()) ++made_;
        return;
      }
      case 2:
        return note(desk_.command(StartTask{.task_id = id, .worker = external("w")}));
      case 3:
        return note(desk_.command(StartTask{
            .task_id = id,
            .worker =
                TaskWorker{WorkerKind::turn, ThreadId{fmt::format("h{}", below(3))}, {}, {}}}));
      case 4:
        return note(
            desk_.command(ClaimTask{.session_id = state::kSession, .worker = external("w")}));
      case 5: {
        const auto [of, run] = some_run();
        CompleteTask command{.task_id = of};
        command.run_id = run;
        desk_.command(command);
        return;
      }
      case 6: {
        const auto [of, run] = some_run();
        desk_.command(
            FailTask{.task_id = of, .run_id = run, .error = {Category::internal, "no", true}});
        return;
      }
      case 7:
        desk_.command(CancelTask{.task_id = id, .reason = "no", .propagate = below(2) == 0});
        return;
      case 8:
        return note(desk_.command(RetryTask{.task_id = id, .reason = "again"}));
      case 9:
        desk_.command(LinkTasks{.task_id = id,
                                .kind = below(2) == 0 ? EdgeKind::blocked_by : EdgeKind::parent,
                                .target_id = some()});
        return;
      case 10:
        desk_.command(
            UnlinkTasks{.task_id = id, .kind = EdgeKind::blocked_by, .target_id = some()});
        return;
      case 11:
        desk_.wait(static_cast<std::int64_t>(below(800)));
        return desk_.tick();
      case 12:
        if (below(2) == 0)
          desk_.command(PauseTask{.task_id = id});
        else
          desk_.command(ResumeTask{.task_id = id});
        return;
      default:
        const auto [of, run] = some_run();
        desk_.report(ReportTaskSilent{of, run});
        desk_.settle();
    }
  }

  void check(const std::map<TaskId, state::Task>& before) {
    for (const auto& [id, task] : desk_.tasks().records()) {
      CAPTURE(id.text());
      const auto old = before.find(id);
      if (old == before.end()) continue;
      CHECK(task.attempts_made >= old->second.attempts_made);
      for (std::size_t i = 0; i < old->second.attempts.size(); ++i) {
        const state::TaskAttempt& kept = task.attempts[i];
        CHECK(kept.attempt_id == old->second.attempts[i].attempt_id);
        if (old->second.attempts[i].ended_at) {
          CHECK(kept.status == old->second.attempts[i].status);
          CHECK(kept.last_error == old->second.attempts[i].last_error);
        }
      }
    }
    check_transitions();
    for (const auto& [id, _] : desk_.tasks().records()) {
      std::set<TaskId> seen;
      CHECK_FALSE(reaches(id, id, seen));
    }
  }
  // Every status follows its predecessor by the table.
  void check_transitions() {
    state::TaskChanges changes;
    for (; checked_ < desk_.log().size(); ++checked_) {
      const Fact& fact = desk_.log()[checked_];
      const state::Task* task = folded_.find(fact.ids.task_id);
      const std::optional<TaskStatus> from = task ? std::optional(task->status) : std::nullopt;
      state::fold_tasks(folded_, fact, changes);
      task = folded_.find(fact.ids.task_id);
      if (!from || !task || *from == task->status) continue;
      CAPTURE(type_of(fact.payload));
      CAPTURE(name_of(*from));
      CAPTURE(name_of(task->status));
      CHECK(may_move(*from, task->status));
    }
  }
  bool reaches(const TaskId& from, const TaskId& to, std::set<TaskId>& seen) const {
    for (const auto& [id, task] : desk_.tasks().records()) {
      const auto blockers = state::blockers_of(desk_.task(from.text()));
      const bool waits =
          std::ranges::find(blockers, id) != blockers.end() || task.parent_task_id == from;
      if (!waits) continue;
      if (id == to) return true;
      if (seen.insert(id).second && reaches(id, to, seen)) return true;
    }
    return false;
  }

  std::mt19937_64 dice_;
  TaskDesk desk_;
  std::uint64_t made_ = 0;
  std::vector<std::pair<TaskId, RunId>> runs_;
  std::size_t checked_ = 0;
  state::Tasks folded_;
};

}  // namespace

TEST_CASE("any history of tasks is legal, loses no attempt, stays acyclic and replays") {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    CAPTURE(seed);
    Worker worker{seed};
    for (int i = 0; i < 400; ++i) worker.step();
    CHECK(worker.facts() > 100);
    worker.check_replay();
    worker.finish();
    worker.check_replay();
  }
}

}  // namespace agentrt::control
