// control/testing/given_jobs.h: a session with a job, driven by the reports that the engine sends.
#pragma once

#include "control/testing/given.h"
#include "state/index.h"

namespace agentrt::control {

inline const JobId kJob{"job_1"};

inline schema::CreateJob job_of(std::string command, std::uint64_t concurrency = 2) {
  schema::CreateJob out;
  out.session_id = state::kSession;
  out.runner.command = std::move(command);
  out.items.emplace();
  out.job_id = kJob;
  out.concurrency = concurrency;
  out.options = schema::JobOptions{.mode = schema::PermissionMode::bypass};
  return out;
}

// Drives a job without an engine. Every step folds its facts, and keeps the index rows.
class JobRun {
 public:
  explicit JobRun(std::uint64_t items) : items_(items) {
    for (const schema::Fact& fact : state::Given{}.session().log()) take(fact);
  }

  const state::Session& view() const { return view_; }
  const state::Task& task() const { return *tasks_.find(job_task_); }
  const state::Job& job() const { return view_.jobs.at(kJob); }
  bool running() const { return view_.jobs.contains(kJob); }
  const schema::JobRecord& ended() const { return view_.ended_job->record; }
  Timestamp now() const { return now_; }
  void wait(std::int64_t ms) { now_ = now_ + ms; }

  Inputs inputs() {
    Inputs in = inputs_at(now_);
    in.ids = FreshIds{now_, ++seed_};
    in.tasks = &tasks_;
    in.approver = true;
    return in;
  }

  template <class What>
  Outcome decide(const What& what, Named named = {}) {
    Inputs in = inputs();
    in.named = std::move(named);
    Outcome out = when(view_, what, std::move(in));
    for (const schema::Fact& fact : out.facts) take(fact);
    return out;
  }

  Outcome create(const schema::CreateJob& command) {
    Named named;
    named.items = Named::Items{"out_1", items_, {}};
    return decide(schema::Command{command}, std::move(named));
  }
  // The engine has read the next `count` lines.
  Outcome feed(std::size_t count) {
    schema::ReportJobItems report;
    report.job = kJob;
    for (std::uint64_t line = job().record.cursor.line + 1;
         report.lines.size() < count && line <= items_; ++line)
      report.lines.push_back({JobItemId{std::to_string(line)}, line, line * 10, 1, line * 10 + 10});
    return decide(schema::Report{report});
  }
  // The turn that runs the item.
  const state::Turn& turn_of(const std::string& item) const {
    for (const auto& [_, thread] : view_.threads)
      if (thread.active && thread.active->ids.job_item == JobItemId{item}) return *thread.active;
    throw std::out_of_range("no turn runs item " + item);
  }
  Outcome prepared(const std::string& item) {
    schema::ReportPrepared report;
    report.turn = turn_of(item).ids.turn;
    report.context.cwd = "/w";
    return decide(schema::Report{report});
  }
  Outcome ready(const std::string& item) {
    const state::Turn& turn = turn_of(item);
    schema::ReportProcessReady report;
    report.turn = turn.ids.turn;
    report.call = turn.tools.front().id;
    report.process = ProcessId{"proc_" + turn.ids.turn.text()};
    return decide(schema::Report{report});
  }
  Outcome ends(const std::string& item, std::int64_t exit_code,
               std::optional<schema::Failure> failure = {}) {
    const state::Turn& turn = turn_of(item);
    schema::ReportProcessEnded report;
    report.turn = turn.ids.turn;
    report.call = turn.tools.front().id;
    report.process = ProcessId{"proc_" + turn.ids.turn.text()};
    report.exit_code = exit_code;
    report.failure = std::move(failure);
    report.preview = "printed by " + item;
    return decide(schema::Report{report});
  }
  // The first item: prepared, allowed and started.
  void first() {
    feed(1);
    prepared("1");
    ready("1");
  }
  Outcome retry(const std::string& item) {
    schema::RetryJobItem command;
    command.job_id = kJob;
    command.job_item_id = JobItemId{item};
    Named named;
    if (!running()) named.job = ended();
    if (const auto row = items.find(item); row != items.end()) named.job_item = row->second;
    return decide(schema::Command{command}, std::move(named));
  }

  // The engine has read the rows of failed items that the job has to retry.
  Outcome feed_failed() {
    schema::ReportJobItems report;
    report.job = kJob;
    for (const auto& [_, item] : items)
      if (item.status == schema::JobItemStatus::failed &&
          state::is_redone(job().record, item.first))
        report.failed.insert(report.failed.begin(), item);
    report.failed_ended = report.failed.empty();
    return decide(schema::Report{report});
  }
  // A command about the job's task.
  template <class C>
  Outcome on_task(C command) {
    command.task_id = job_task_;
    Named named;
    if (!running()) named.job = ended();
    return decide(schema::Command{command}, std::move(named));
  }

  std::map<std::string, schema::JobItemRecord> items;  // the rows of started items

 private:
  void take(const schema::Fact& fact) {
    state::fold(view_, fact);
    state::TaskChanges changes;
    state::fold_tasks(tasks_, fact, changes);
    if (std::holds_alternative<schema::JobCreated>(fact.payload)) job_task_ = fact.ids.task_id;
    for (const state::ObjectRow& row : state::index(view_, fact)) {
      if (row.kind != schema::kJobItemKind) continue;
      schema::JobItemRecord record;
      check(schema::from_json(row.record, record, schema::Unknown::refuse).has_value(),
            "a row has its record");
      items[record.at.id.text()] = record;
    }
  }

  const std::uint64_t items_;
  state::Session view_;
  state::Tasks tasks_;
  TaskId job_task_;
  Timestamp now_ = state::kStart;
  std::uint64_t seed_ = 0;
};

}  // namespace agentrt::control
