// adapters/process/watcher.h: the thread that starts launchers, receives their reports and notices
// their end.
//
// One thread starts all launchers, because a launcher without a connection ends with the thread
// that started it. The thread never blocks on a single launcher, so a launcher that hangs does not
// delay others. The output of commands stays in their run folders; only small pieces pass through
// here.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "adapters/process/launch.h"
#include "adapters/process/launcher_report.h"
#include "adapters/process/output_pieces.h"
#include "adapters/process/run_folder.h"
#include "base/descriptor.h"
#include "ports/job_inputs.h"
#include "ports/processes.h"
#include "schema/sandbox.h"

namespace agentrt::adapters {

class Watcher {
 public:
  static constexpr std::uint64_t kSpoolBytes = 64 << 20;  // per stream
  // For a sandbox to become ready; then the command is refused.
  static constexpr int kSetupMaxMs = 30'000;
  static constexpr int kEndMaxMs = 10'000;  // for a launcher to exit; then it is abandoned
  // How many times to look for the exit record of a launcher that may still be ending.
  static constexpr int kLooksMax = 30;

  // Receives events about processes, on the watcher's thread.
  class Listener {
   public:
    using Told = std::move_only_function<void(ports::ProcessListener&)>;
    virtual ~Listener() = default;
    virtual void tell(const ProcessId& process, Told what) = 0;
    // It is unknown whether the process runs, for lack of descriptors. Retry follow() soon.
    virtual void not_now(const ProcessId& process, const ports::ReceivedSoFar& heard) = 0;
    // The last event of a process is one of the following.
    virtual void refused(const ProcessId& process, schema::Failure why) = 0;
    virtual void exited(const ProcessId& process, std::string record) = 0;
    // The launcher is gone or was not found. The run folder may hold its exit record, and output
    // that was not passed on (`rest`). `looks`: how many times to look for the record, which may
    // still be written.
    virtual void lost_sight(const ProcessId& process, OutputPieces rest, int looks) = 0;
  };

  struct Parts {
    Listener& hearer;
    std::string folder;  // DATA/run
    std::function<Result<schema::SandboxProfile>(const ports::ProcessRequest&)> profile;
    std::size_t processes_max = 0;       // foreground, at once; further ones are queued
    std::size_t background_max = 0;      // background, at once; further ones are refused
    ports::JobInputs* inputs = nullptr;  // of commands with a stored input; null: none
  };

  explicit Watcher(Parts parts);
  // Ends foreground processes and those still at their gate. Background processes keep running.
  ~Watcher();

  // Runs the task on the thread. Any thread.
  void post(std::move_only_function<void(Watcher&)> task);

  // --- on the watcher's thread ---

  void start(ports::ProcessRequest request);
  void follow(const ProcessId& id, const ports::ReceivedSoFar& heard);
  void release(const ProcessId& id);
  void signal(const ProcessId& id, int number);
  void write(const ProcessId& id, const std::string& input, ports::AfterInput after);
  void resize(const ProcessId& id, std::uint64_t rows, std::uint64_t columns);
  // Kills the command if it still runs and removes its run folder. No more events.
  void drop(const ProcessId& id);
  // No more events. A background process keeps running.
  void leave(const ProcessId& id);

 private:
  using Clock = std::chrono::steady_clock;
  enum class Stage { setting_up, running, ending, over };
  // What to do after an ending launcher has exited.
  enum class Then { remove_folder, nothing };
  struct Watched {
    ProcessId id;
    Launched launched;
    OutputPieces pieces;
    bool background = false;
    bool released = false;
    bool found = false;     // started by an earlier boot
    bool answered = false;  // has reported since it was found
    Stage stage = Stage::setting_up;
    std::optional<Clock::time_point> due = {};  // deadline to become ready, or to exit
    schema::SandboxProfile profile = {};        // this and `request`: valid until it is ready
    ports::ProcessRequest request = {};
    Descriptor gone = {};  // readable when an ending launcher has exited
    Then then = Then::nothing;
  };

  Result<Descriptor> input_file(const ports::StoredInput& input) const;
  void run();
  void run_tasks();
  int wait_ms() const;
  void give_up_late_ones();
  void begin_waiting();
  void begin(ports::ProcessRequest request);
  std::size_t count(bool background) const;
  bool is_ending(const ProcessId& id) const;
  Watched* find(const ProcessId& id);
  void hear(Watched& process);
  void take(Watched& process, const std::string& text);
  void ready(Watched& process, const LauncherReport& report);
  void output(Watched& process, const LauncherReport& report);
  void violation(const Watched& process, const LauncherReport& report);
  void inspect(const Watched& process);
  void refuse(Watched& process, schema::Category category, std::string why);
  void end(Watched& process, Then then);
  void ended(Watched& process);

  Parts parts_;
  std::vector<std::unique_ptr<Watched>> watched_;
  std::deque<ports::ProcessRequest> waiting_;  // at most one per call in flight
  bool stopping_ = false;
  std::mutex mutex_;
  std::vector<std::move_only_function<void(Watcher&)>> tasks_;  // under mutex_
  const Descriptor wake_;
  std::thread thread_;
};

}  // namespace agentrt::adapters
