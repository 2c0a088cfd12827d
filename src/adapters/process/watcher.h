// adapters/process/watcher.h: the thread that starts launchers, hears them and sees them end.
//
// One thread starts all launchers, since one that nobody is connected to ends with the thread that
// started it. It never waits for one of them: a launcher that does not end holds up nothing but
// itself. What a command writes stays in its run folder; only small pieces pass through here.
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
#include "ports/processes.h"
#include "schema/sandbox.h"

namespace agentrt::adapters {

class Watcher {
 public:
  static constexpr std::uint64_t kSpoolBytes = 64 << 20;  // of one stream
  static constexpr int kSetupMaxMs = 30'000;  // until a sandbox is ready; then it is given up
  static constexpr int kEndMaxMs = 10'000;    // until a launcher has gone; then it is left alone
  // How often the record of a launcher that may still be ending is looked for.
  static constexpr int kLooksMax = 30;

  // Hears about processes. Called on the watcher's thread.
  class Hearer {
   public:
    using Told = std::move_only_function<void(ports::ProcessListener&)>;
    virtual ~Hearer() = default;
    virtual void tell(const ProcessId& process, Told what) = 0;
    // Whether it runs cannot be found out now: it is to be followed again in a moment.
    virtual void not_now(const ProcessId& process, const ports::HeardSoFar& heard) = 0;
    // The last that is heard of it, one of these.
    virtual void refused(const ProcessId& process, schema::Failure why) = 0;
    virtual void exited(const ProcessId& process, std::string record) = 0;
    // Its launcher is gone or was not found. Its folder may hold its record, and output that was
    // not passed on. `looks`: how often to look for the record, which may be about to be written.
    virtual void lost_sight(const ProcessId& process, OutputPieces rest, int looks) = 0;
  };

  struct Parts {
    Hearer& hearer;
    std::string folder;  // DATA/run
    std::function<Result<schema::SandboxProfile>(const ports::ProcessRequest&)> profile;
    std::size_t processes_max = 0;   // at once, in the foreground; further ones wait
    std::size_t background_max = 0;  // at once; further ones are refused
  };

  explicit Watcher(Parts parts);
  // Ends what is in the foreground or held, and leaves what goes on in the background.
  ~Watcher();

  // Runs the task on the thread. Any thread.
  void post(std::move_only_function<void(Watcher&)> task);

  // --- on the thread ---

  void start(ports::ProcessRequest request);
  void follow(const ProcessId& id, const ports::HeardSoFar& heard);
  void release(const ProcessId& id);
  void signal(const ProcessId& id, int number);
  void write(const ProcessId& id, const std::string& input, ports::AfterInput after);
  void resize(const ProcessId& id, std::uint64_t rows, std::uint64_t columns);
  // Ends the command, if it still runs, and removes its folder; nothing more is heard of it.
  void drop(const ProcessId& id);
  // Nothing more is heard of it; in the background it goes on.
  void leave(const ProcessId& id);

 private:
  using Clock = std::chrono::steady_clock;
  enum class Stage { setting_up, running, ending, over };
  // What is done once an ending launcher has gone.
  enum class Then { remove_folder, nothing };
  struct Watched {
    ProcessId id;
    Launched launched;
    OutputPieces pieces;
    bool background = false;
    bool released = false;
    bool found = false;     // of an earlier boot
    bool answered = false;  // since it was found
    Stage stage = Stage::setting_up;
    std::optional<Clock::time_point> due = {};  // it is ready by then, or gone
    schema::SandboxProfile profile = {};        // both until it is ready
    ports::ProcessRequest request = {};
    Descriptor gone = {};  // of an ending one
    Then then = Then::nothing;
  };

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
  std::deque<ports::ProcessRequest> waiting_;  // at most one for each call under way
  bool stopping_ = false;
  std::mutex mutex_;
  std::vector<std::move_only_function<void(Watcher&)>> tasks_;  // under mutex_
  const Descriptor wake_;
  std::thread thread_;
};

}  // namespace agentrt::adapters
