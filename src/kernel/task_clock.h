// kernel/task_clock.h: the timers of tasks, and the work that one task causes for others.
//
// Time limits are index rows with a due time. The clock reads the earliest ones, waits for the
// first and reports each that has passed (schema::ReportTaskDue), so the number of timers in memory
// does not grow with the number of tasks. Heartbeats of external workers leave no fact, so each
// open attempt that must send them has a timer here; after a start it gets one full interval. A
// task with consequences for other tasks is reported until it has none
// (schema::ReportTaskContinues). Everything starts again from the rows, so nothing is forgotten
// over a restart. Core only, except armed().
#pragma once

#include <atomic>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "ports/loop.h"
#include "schema/reports.h"
#include "state/tasks.h"
#include "store/store.h"

namespace agentrt::kernel {

inline constexpr std::size_t kDuePage = 64;         // rows read at a time
inline constexpr std::int64_t kDueAgainMs = 1'000;  // before a report that changed nothing repeats
inline constexpr std::int64_t kDueWaitMaxMs = 60'000;  // the wall clock may be set meanwhile

class TaskClock {
 public:
  using Report = std::function<void(const SessionId&, schema::Report, ports::Step taken)>;

  struct Parts {
    store::Store& store;
    ports::Loop& loop;
    ports::Worker& readers;
    std::int64_t retry_ms;  // if the store cannot be read
    Report report;
  };

  explicit TaskClock(Parts parts) : parts_(std::move(parts)) {}

  // Arms everything that the store has. Call once.
  void start();
  // The record of the task was stored like this.
  void stored(const SessionId& session, const state::Task& task);
  // The worker of this run has reported.
  void beat(const TaskId& task, const RunId& run);
  // Whether the worker of this run has been silent for its whole interval.
  bool silent(const TaskId& task, const RunId& run) const;
  // The number of timers that the process must stay alive for, not more than one for all rows with
  // a due time. Any thread.
  std::size_t armed() const { return armed_; }

 private:
  struct Beat {
    SessionId session;
    RunId run;
    std::int64_t interval_ms = 0;
    ports::Loop::TimerId timer = 0;
    bool fired = false;
  };

  void watch(const SessionId& session, const TaskId& task, const RunId& run,
             std::int64_t interval_ms);
  void arm(const TaskId& task, Beat& beat);
  void forget(const TaskId& task);
  void look_at(Timestamp due);
  void scan();
  void scanned(Result<std::vector<store::IndexEntry>> due);
  void report_due(const store::IndexEntry& entry);
  void decided(const std::string& id, Timestamp due);
  void find_open(std::optional<store::IndexEntry> after);
  void find_beats(std::optional<store::IndexEntry> after);
  // Runs a read of the store on a worker until it succeeds.
  void read(std::function<Result<std::vector<store::IndexEntry>>()> what,
            std::function<void(std::vector<store::IndexEntry>)> then);
  void count();

  Parts parts_;
  std::unordered_map<TaskId, Beat> beats_;
  std::unordered_set<std::string> reported_;  // ids of due rows, until their report is decided
  std::unordered_map<std::string, Timestamp> cooling_;  // reported in the last kDueAgainMs
  std::optional<ports::Loop::TimerId> timer_;
  std::optional<Timestamp> next_;  // what timer_ waits for
  bool scanning_ = false;
  bool scan_again_ = false;
  std::atomic<std::size_t> armed_{0};
};

}  // namespace agentrt::kernel
