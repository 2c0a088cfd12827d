// adapters/process/processes.h: runs real processes, each under its own launcher.
//
// A watcher thread (watcher.h) starts the launchers and receives their reports, which are posted to
// the core. The output of a command stays in its run folder until it has ended; then output beyond
// a preview is stored behind refs. The folder is removed after the log has stored the end, so a
// crash before that loses nothing. A background command keeps running when the runtime stops or
// dies; follow() finds it again by its run folder, where its launcher listens.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "adapters/process/run_folder.h"
#include "adapters/process/watcher.h"
#include "ports/job_inputs.h"
#include "ports/loop.h"
#include "ports/outputs.h"
#include "ports/processes.h"
#include "schema/sandbox.h"

namespace agentrt::adapters {

class LauncherProcesses final : public ports::Processes, private Watcher::Listener {
 public:
  static constexpr std::int64_t kTerminateGraceMs = 2'000;  // between SIGTERM and SIGKILL
  // Delay after which run folders of earlier boots that no session refers to are removed.
  static constexpr std::int64_t kSweepAfterMs = 600'000;
  // Interval at which the exit record of a lost launcher is looked up, Watcher::kLooksMax times.
  static constexpr std::int64_t kLookEveryMs = 100;
  // Attempts to store output while the disk is full, and their interval.
  static constexpr int kKeepTriesMax = 20;
  static constexpr std::int64_t kKeepEveryMs = 500;

  struct Parts {
    ports::Loop& loop;
    ports::Worker& worker;
    ports::OutputKeeper& keeper;
    std::string folder;  // DATA/run
    // The sandbox profile of a request. May read the disk; called on the watcher thread.
    using Profile = std::function<Result<schema::SandboxProfile>(const ports::ProcessRequest&)>;
    Profile profile;
    // The same for display only, without costly reads, because every turn calls it. Any thread.
    Profile outline;
    Redact redact;
    std::size_t processes_max = 256;   // foreground, at once; further ones are queued
    std::size_t background_max = 256;  // background, at once; further ones are refused
    std::int64_t sweep_after_ms = kSweepAfterMs;
    int keep_tries_max = kKeepTriesMax;
    ports::JobInputs* inputs = nullptr;  // must outlive this; null: no command has stored input
  };

  explicit LauncherProcesses(Parts parts);
  ~LauncherProcesses() override;

  // Ends all processes except background ones and waits for their launchers, which record the end
  // for a later boot. Starts nothing afterwards.
  void stop();

  void start(ports::ProcessRequest request,
             std::shared_ptr<ports::ProcessListener> listener) override;
  void release(const ProcessId& process) override;
  void terminate(const ProcessId& process) override;
  void forget(const ProcessId& process) override;
  void leave(const ProcessId& process) override;
  void settled(const ProcessId& process) override;
  void find(const ProcessId& process, std::shared_ptr<ports::ProcessListener> listener) override;
  void follow(const ProcessId& process, const ports::ReceivedSoFar& heard,
              std::shared_ptr<ports::ProcessListener> listener) override;
  void write(const ProcessId& process, std::string input, ports::AfterInput after) override;
  void resize(const ProcessId& process, std::uint64_t rows, std::uint64_t columns) override;
  Result<schema::ExecutionEnvironment> environment(const ports::ProcessRequest& request) override;

 private:
  void tell(const ProcessId& process, Told what) override;
  void not_now(const ProcessId& process, const ports::ReceivedSoFar& heard) override;
  void refused(const ProcessId& process, schema::Failure why) override;
  void exited(const ProcessId& process, std::string record) override;
  void lost_sight(const ProcessId& process, OutputPieces rest, int looks) override;

  RunFolder folder_of(const ProcessId& process) const {
    return {parts_.folder + "/" + process.text(), Watcher::kSpoolBytes};
  }
  void on_watcher(std::move_only_function<void(Watcher&)> task);
  void run_soon(std::function<void()> task);
  void sweep();
  void look(const ProcessId& process, std::optional<OutputPieces> rest, int looks);
  // Passes on the rest of the output, stores it completely, then reports the end.
  void settle(const ProcessId& process, std::optional<OutputPieces> rest, const ExitRecord& record,
              int tries);
  void ended(const ProcessId& process, ports::ProcessEnd end);

  Parts parts_;
  std::unordered_map<ProcessId, std::shared_ptr<ports::ProcessListener>> listeners_;  // core
  std::unordered_set<ProcessId> unsettled_;  // core: ended, but perhaps not in the log yet
  std::unique_ptr<Watcher> watcher_;
};

}  // namespace agentrt::adapters
