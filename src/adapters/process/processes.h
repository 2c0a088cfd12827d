// adapters/process/processes.h: real processes, each behind a launcher of its own.
//
// A thread (watcher.h) starts the launchers and hears what they report; everything is handed to the
// core. What a command writes stays in its run folder until it has ended; then what is more than a
// preview is kept behind refs. The folder goes when the log has the end, so that a crash before
// that loses nothing. A command in the background goes on when the runtime stops or dies: follow()
// finds it by its run folder, in which its launcher listens.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "adapters/process/run_folder.h"
#include "adapters/process/watcher.h"
#include "ports/loop.h"
#include "ports/outputs.h"
#include "ports/processes.h"
#include "schema/sandbox.h"

namespace agentrt::adapters {

class LauncherProcesses final : public ports::Processes, private Watcher::Hearer {
 public:
  static constexpr std::int64_t kTerminateGraceMs = 2'000;  // between asking and ending
  // After this long whatever an earlier boot left in the folder, and nobody asked for, is removed.
  static constexpr std::int64_t kSweepAfterMs = 600'000;
  // How far apart the record of a lost launcher is looked for, Watcher::kLooksMax times.
  static constexpr std::int64_t kLookEveryMs = 100;
  // How often, and how far apart, output is tried to be kept while the disk is full.
  static constexpr int kKeepTriesMax = 20;
  static constexpr std::int64_t kKeepEveryMs = 500;

  struct Parts {
    ports::Loop& loop;
    ports::Worker& worker;
    ports::OutputKeeper& keeper;
    std::string folder;  // DATA/run
    // The profile for a request; may look at the disk. Called on the thread of the launchers.
    using Profile = std::function<Result<schema::SandboxProfile>(const ports::ProcessRequest&)>;
    Profile profile;
    // The same to tell of and not to run with, which every turn does: it looks at little. Any
    // thread.
    Profile outline;
    Redact redact;
    std::size_t processes_max = 256;   // at once, in the foreground; further ones wait
    std::size_t background_max = 256;  // at once; further ones are refused
    std::int64_t sweep_after_ms = kSweepAfterMs;
    int keep_tries_max = kKeepTriesMax;
  };

  explicit LauncherProcesses(Parts parts);
  ~LauncherProcesses() override;

  // Ends every process but those in the background, and waits for their launchers, which record it;
  // a later boot finds out. Nothing is started any more.
  void stop();

  void start(ports::ProcessRequest request,
             std::shared_ptr<ports::ProcessListener> listener) override;
  void release(const ProcessId& process) override;
  void terminate(const ProcessId& process) override;
  void forget(const ProcessId& process) override;
  void leave(const ProcessId& process) override;
  void settled(const ProcessId& process) override;
  void find(const ProcessId& process, std::shared_ptr<ports::ProcessListener> listener) override;
  void follow(const ProcessId& process, const ports::HeardSoFar& heard,
              std::shared_ptr<ports::ProcessListener> listener) override;
  void write(const ProcessId& process, std::string input, ports::AfterInput after) override;
  void resize(const ProcessId& process, std::uint64_t rows, std::uint64_t columns) override;
  Result<schema::ExecutionEnvironment> environment(const ports::ProcessRequest& request) override;

 private:
  void tell(const ProcessId& process, Told what) override;
  void not_now(const ProcessId& process, const ports::HeardSoFar& heard) override;
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
  // Passes on what is left of its output and keeps the whole, then says how it ended.
  void settle(const ProcessId& process, std::optional<OutputPieces> rest, const ExitRecord& record,
              int tries);
  void ended(const ProcessId& process, ports::ProcessEnd end);

  Parts parts_;
  std::unordered_map<ProcessId, std::shared_ptr<ports::ProcessListener>> listeners_;  // core
  std::unordered_set<ProcessId> unsettled_;  // core: they have ended, and the log may not know yet
  std::unique_ptr<Watcher> watcher_;
};

}  // namespace agentrt::adapters
