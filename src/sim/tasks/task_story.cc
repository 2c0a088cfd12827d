#include "sim/tasks/task_story.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/node.h"
#include "sim/store_over.h"
#include "sim/virtual_time.h"
#include "state/tasks.h"

namespace agentrt::sim {
namespace {

using schema::TaskStatus;
using state::Task;

constexpr std::uint64_t kActions = 120;
constexpr std::uint64_t kTasksMax = 12;
const SessionId kSession{"s"};

constexpr std::array kDefects = {
    TaskDefect{TaskPlant::double_claim, "double_claim", 20},
    TaskDefect{TaskPlant::forgotten_attempt, "forgotten_attempt", 5},
    TaskDefect{TaskPlant::revived_lost_run, "revived_lost_run", 60},
    TaskDefect{TaskPlant::start_under_cancelled, "start_under_cancelled", 400},
    TaskDefect{TaskPlant::early_unblock, "early_unblock", 20},
    TaskDefect{TaskPlant::dropped_timer, "dropped_timer", 20},
};

// Changes the records of tasks on their way from or to the store.
class WrongRecords final : public StoreOver {
 public:
  WrongRecords(store::Store& inner, TaskPlant plant) : StoreOver(inner), plant_(plant) {}

  Result<std::optional<store::IndexEntry>> find(const std::string& kind,
                                                const std::string& id) override {
    TRY_ASSIGN(auto entry, inner().find(kind, id));
    if (entry && kind == state::kTaskKind) change(entry->row);
    return entry;
  }
  Result<std::vector<store::IndexEntry>> list(const store::IndexQuery& query) override {
    store::IndexQuery asked = query;
    const bool free = query.kind == state::kTaskKind && query.term.value_or("") == "free";
    if (plant_ == TaskPlant::double_claim && free) asked.term = "shown";
    TRY_ASSIGN(auto entries, inner().list(asked));
    if (query.kind == state::kTaskKind)
      for (store::IndexEntry& entry : entries) change(entry.row);
    return entries;
  }
  Result<std::vector<store::IndexEntry>> due(std::size_t limit) override {
    if (plant_ == TaskPlant::dropped_timer) return std::vector<store::IndexEntry>{};
    return inner().due(limit);
  }
  std::vector<Result<store::Position>> commit(std::span<const store::Append> appends) override {
    if (plant_ != TaskPlant::forgotten_attempt) return inner().commit(appends);
    std::vector<store::Append> changed(appends.begin(), appends.end());
    for (store::Append& append : changed)
      for (store::IndexRow& row : append.index)
        if (row.kind == state::kTaskKind) forget_attempts(row);
    return inner().commit(changed);
  }

 private:
  static void forget_attempts(store::IndexRow& row) {
    auto task = state::decode_task(row.record);
    if (!task || task->attempts.size() < 2) return;
    task->attempts.erase(task->attempts.begin());
    task->attempts_made = 1;
    row.record = state::encode(*task);
  }
  void change(store::IndexRow& row) const {
    auto task = state::decode_task(row.record);
    if (!task) return;
    switch (plant_) {
      case TaskPlant::double_claim:
        if (task->status == TaskStatus::running) {
          task->status = TaskStatus::accepted;
          task->current_run_id.reset();
        }
        break;
      case TaskPlant::revived_lost_run:
        if (task->status == TaskStatus::lost && !task->attempts.empty()) {
          task->status = TaskStatus::running;
          task->current_run_id = task->attempts.back().run_id;
        }
        break;
      case TaskPlant::start_under_cancelled:
        if (task->status == TaskStatus::cancelling && task->children > 0)
          task->status = TaskStatus::accepted;
        break;
      case TaskPlant::early_unblock:
        if (std::erase_if(task->edges,
                          [](const state::TaskEdge& edge) {
                            return edge.relationship == "blocked_by";
                          }) > 0 &&
            task->status == TaskStatus::blocked)
          task->status = TaskStatus::accepted;
        break;
      default:
        return;
    }
    row.record = state::encode(*task);
  }

  TaskPlant plant_;
};

class TaskStory {
 public:
  TaskStory(std::uint64_t seed, TaskPlant plant)
      : dice_(seed * 0x9e3779b97f4a7c15ULL + 7), node_(options(seed, plant)) {}

  Checked run() {
    ask("create_session", R"({"sessionId":"s"})");
    for (std::uint64_t i = 0; i < kActions; ++i) act();
    pass(120'000);
    node_.crash();
    node_.start();
    pass(120'000);
    return check();
  }

 private:
  static Node::Options options(std::uint64_t seed, TaskPlant plant) {
    Node::Options out;
    out.seed = seed;
    if (plant != TaskPlant::none)
      out.seams.store = [plant](store::MemoryStore& memory) {
        return std::make_unique<WrongRecords>(memory, plant);
      };
    return out;
  }

  std::uint64_t below(std::uint64_t bound) { return dice_.below(bound); }
  ports::Reply ask(const std::string& command, const std::string& params) {
    return node_.ask(command, params);
  }
  void pass(std::int64_t ms) {
    const std::int64_t until = node_.time().monotonic_ms() + ms;
    while (node_.step_until(until)) {
    }
  }
  std::string some_task() { return fmt::format("t{}", below(made_ == 0 ? 1 : made_)); }

  void act() {
    switch (below(24)) {
      case 0:
      case 1:
      case 12:
      case 13:
      case 14:
        return create();
      case 2:
      case 3:
      case 15:
        return claim();
      case 4:
        return note(
            ask("start_task",
                fmt::format(R"({{"taskId":"{}","worker":{{"kind":"external"}}}})", some_task())));
      case 5:
        ask("start_task",
            fmt::format(R"({{"taskId":"{}","worker":{{"kind":"turn","threadId":"th{}"}}}})",
                        some_task(), below(2)));
        return;
      case 6:
      case 16:
      case 17:
        return report("complete_task", "");
      case 7:
      case 18:
      case 19:
        return report("fail_task",
                      R"(,"error":{"category":"internal","message":"no","retryable":true})");
      case 8:
        return report("append_task_progress", below(2) == 0 ? "" : R"(,"progress":{"step":"x"})");
      case 9:
        ask("cancel_task", fmt::format(R"({{"taskId":"{}","reason":"enough","propagate":{}}})",
                                       some_task(), below(3) != 0));
        return;
      case 10:
        return note(
            ask("retry_task", fmt::format(R"({{"taskId":"{}","reason":"again"}})", some_task())));
      case 11:
      case 20:
      case 21:
        return pass(static_cast<std::int64_t>(below(4'000)));
      default:
        node_.crash();
        node_.start();
    }
  }
  void create() {
    if (made_ >= kTasksMax) return;
    std::string more;
    if (made_ > 0 && below(2) == 0) more += fmt::format(R"(,"parentTaskId":"{}")", some_task());
    if (made_ > 0 && below(2) == 0) more += fmt::format(R"(,"blockedBy":["{}"])", some_task());
    if (below(2) == 0) more += R"(,"retryPolicy":{"maxAttempts":3,"backoffMs":700})";
    if (below(3) == 0)
      more += fmt::format(R"(,"constraints":{{"heartbeatMs":{},"timeoutMs":{},"repeatable":{}}})",
                          500 + below(2'000), 500 + below(3'000), below(2) == 0);
    const std::string params =
        fmt::format(R"({{"sessionId":"s","taskId":"t{}","objective":"o"{}}})", made_, more);
    if (ask("create_task", params)) ++made_;
  }
  // Two workers claim at the same moment.
  void claim() {
    const std::string params = R"({"sessionId":"s","worker":{"kind":"external"}})";
    const auto first = node_.send("claim_task", params);
    const auto second = node_.send("claim_task", params);
    for (int i = 0; i < 10'000 && !(first->has_value() && second->has_value()); ++i)
      if (!node_.step()) break;
    if (first->has_value()) note(**first);
    if (second->has_value()) note(**second);
  }
  void note(const ports::Reply& reply) {
    schema::RunReply run;
    if (reply && schema::from_json(*reply, run, schema::Unknown::ignore) && run.run_id)
      runs_.emplace_back(run.task_id->text(), run.run_id->text());
  }
  // A report of an attempt, which may have ended long ago.
  void report(const std::string& command, const std::string& more) {
    if (runs_.empty()) return;
    const std::uint64_t recent = std::min<std::uint64_t>(runs_.size(), 5);
    const auto& [task, run] = runs_[runs_.size() - 1 - below(recent)];
    ask(command, fmt::format(R"({{"taskId":"{}","runId":"{}"{}}})", task, run, more));
  }

  Checked check() {
    const auto log = node_.log(kSession);
    if (auto broken = check_judged(log)) return broken;
    const auto rows = node_.store().list({.kind = "task", .session = kSession, .limit = 1'000});
    for (const store::IndexEntry& entry : *rows) {
      const auto task = state::decode_task(entry.row.record);
      if (!task) continue;
      if (entry.row.due && *entry.row.due < node_.time().now())
        return Violation{
            "timers", fmt::format("the time limit of {} passed at {}, and it is {}", entry.row.id,
                                  format(*entry.row.due), entry.row.status)};
      if (entry.row.open)
        return Violation{"pages", fmt::format("{} is {} and still has consequences for others",
                                              entry.row.id, entry.row.status)};
    }
    if (auto broken = check_snapshot(node_.store(), node_.replayed(kSession))) return broken;
    return check_index(node_.store(), kSession);
  }

  Random dice_;
  Node node_;
  std::uint64_t made_ = 0;
  std::vector<std::pair<std::string, std::string>> runs_;
};

}  // namespace

std::span<const TaskDefect> task_defects() { return kDefects; }

Checked run_task_story(std::uint64_t seed, TaskPlant plant) { return TaskStory{seed, plant}.run(); }

}  // namespace agentrt::sim
