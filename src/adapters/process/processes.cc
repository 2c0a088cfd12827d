#include "adapters/process/processes.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "adapters/process/launch.h"
#include "adapters/process/launcher_report.h"
#include "adapters/process/run_folder.h"
#include "adapters/process/sandbox.h"
#include "base/descriptor.h"
#include "base/digest.h"
#include "schema/tools.h"

namespace agentrt::adapters {

using schema::Category;
using schema::Failure;

namespace {

constexpr std::size_t kReportsAtOnce = 64;  // of one launcher, before the others get their turn

// Beginning and end of both streams, as the model and a person see them.
std::string preview_of(const RunFolder& folder, const ExitRecord& record, const Redact& redact) {
  std::string out = folder.preview("stdout", record.out, redact);
  if (record.err == 0) return out;
  if (!out.empty() && !out.ends_with('\n')) out += '\n';
  return out + "[stderr]\n" + folder.preview("stderr", record.err, redact);
}

// What is more than the preview shows is kept behind refs; what cannot be kept is said. Blocking.
void keep_outputs(const RunFolder& folder, const ExitRecord& record, ports::OutputKeeper& keeper,
                  ports::ProcessEnd& end) {
  const std::pair<const char*, std::uint64_t> streams[] = {{"stdout", record.out},
                                                           {"stderr", record.err}};
  for (const auto& [stream, size] : streams) {
    if (size <= 2 * kPreviewHalf) continue;
    const auto path = folder.whole(stream, size);
    ports::OutputMeta meta;
    if (size > LauncherProcesses::kSpoolBytes) meta.whole_size = size;
    auto output = path ? keeper.keep_file(*path, meta)
                       : Result<schema::KeptOutput>(fail(Code::unavailable, "the spool is gone"));
    if (output)
      end.outputs.push_back(*std::move(output));
    else
      end.preview +=
          fmt::format("\n[the rest of {} could not be kept: {}]", stream, output.error().message);
  }
}

ports::ProcessEnd end_of(const RunFolder& folder, const ExitRecord& record,
                         ports::OutputKeeper& keeper, const Redact& redact) {
  ports::ProcessEnd end;
  end.exit_code = record.code;
  end.signal = record.signal;
  end.preview = preview_of(folder, record, redact);
  keep_outputs(folder, record, keeper, end);
  if (record.abandoned)
    end.failure = Failure{Category::interrupted,
                          record.started
                              ? "the runtime stopped while the command ran, and the command with it"
                              : "the runtime stopped before the command was let go: nothing ran",
                          false};
  return end;
}

}  // namespace

// The thread that starts launchers and hears them.
class LauncherProcesses::Watcher {
 public:
  explicit Watcher(LauncherProcesses& owner)
      : owner_(owner),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        thread_([this] { run(); }) {}
  ~Watcher() {
    post([this] { stopping_ = true; });
    thread_.join();
  }

  // Runs the task on the thread. Any thread.
  void post(std::move_only_function<void()> task) {
    {
      const std::scoped_lock lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    const std::uint64_t one = 1;
    (void)!::write(wake_.get(), &one, sizeof(one));
  }

  void start(ports::ProcessRequest request) {
    waiting_.push_back(std::move(request));
    begin_waiting();
  }
  void order(const ProcessId& id, const std::string& text) {
    for (const auto& each : watched_)
      if (each->id == id) (void)each->launched.order(text);
  }
  // Closing the connection ends the command; its launcher is waited for, and its folder removed.
  void drop(const ProcessId& id) {
    std::erase_if(waiting_, [&](const ports::ProcessRequest& each) { return each.id == id; });
    std::erase_if(watched_, [&](const std::unique_ptr<Watched>& each) {
      if (each->id != id) return false;
      const RunFolder folder = each->folder;
      {
        const Launched ending = std::move(each->launched);
      }
      folder.remove();
      return true;
    });
    begin_waiting();
  }

 private:
  using Clock = std::chrono::steady_clock;

  void begin_waiting() {
    while (!waiting_.empty() && watched_.size() < owner_.parts_.processes_max) {
      ports::ProcessRequest next = std::move(waiting_.front());
      waiting_.pop_front();
      begin(std::move(next));
    }
  }
  void begin(ports::ProcessRequest request) {
    const ProcessId id = request.id;
    auto profile = owner_.parts_.profile(request);
    if (!profile) return refuse(id, Category::invalid_input, profile.error().message);
    RunFolder folder = owner_.folder_of(id);
    if (const auto made = folder.make(); !made)
      return refuse(id, Category::unavailable, made.error().message);
    launcher::Spec spec = spec_of(*profile, request.argv);
    spec.run_folder = folder.path();
    spec.spool_bytes = kSpoolBytes;
    auto launched = launch(spec);
    if (!launched) return refuse(id, Category::sandbox, launched.error().message);
    watched_.push_back(std::make_unique<Watched>(
        Watched{id, *std::move(launched), std::move(folder), *std::move(profile),
                std::move(request), Clock::now() + std::chrono::milliseconds(kSetupMaxMs)}));
  }

  struct Watched {
    ProcessId id;
    Launched launched;
    RunFolder folder;
    schema::SandboxProfile profile;
    ports::ProcessRequest request;
    std::optional<Clock::time_point> ready_by;  // absent: it is ready
    std::uint64_t out = 0, err = 0;             // bytes that were passed on
    std::size_t shown = 0;                      // of both
    bool over = false;
  };

  void run() {
    ::pthread_setname_np(::pthread_self(), "agentrt-proc");
    while (!stopping_) {
      std::vector<pollfd> waits{{wake_.get(), POLLIN, 0}};
      for (const auto& each : watched_) waits.push_back({each->launched.control(), POLLIN, 0});
      if (::poll(waits.data(), waits.size(), wait_ms()) < 0) continue;
      for (std::size_t i = 1; i < waits.size(); ++i)
        if (waits[i].revents != 0) hear(*watched_[i - 1]);
      give_up_late_ones();
      std::erase_if(watched_, [](const auto& each) { return each->over; });
      if (waits[0].revents != 0) run_tasks();
      begin_waiting();
    }
    watched_.clear();
  }

  // Until the first of those that are not ready yet is late; -1: there is none.
  int wait_ms() const {
    std::optional<Clock::time_point> first;
    for (const auto& each : watched_)
      if (each->ready_by && (!first || *each->ready_by < *first)) first = each->ready_by;
    if (!first) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*first - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, kSetupMaxMs));
  }
  void give_up_late_ones() {
    for (const auto& each : watched_) {
      if (each->over || !each->ready_by || Clock::now() < *each->ready_by) continue;
      each->over = true;
      refuse(each->id, Category::sandbox,
             fmt::format("the sandbox was not ready within {} s", kSetupMaxMs / 1'000));
    }
  }

  void run_tasks() {
    std::uint64_t count = 0;
    (void)!::read(wake_.get(), &count, sizeof(count));
    std::vector<std::move_only_function<void()>> tasks;
    {
      const std::scoped_lock lock(mutex_);
      tasks.swap(tasks_);
    }
    for (auto& task : tasks) task();
  }

  void refuse(const ProcessId& id, Category category, const std::string& why) {
    owner_.parts_.loop.post([&owner = owner_, id, failure = Failure{category, why, false}] {
      owner.ended(id, {.failure = failure});
    });
  }

  void hear(Watched& process) {
    pollfd more{process.launched.control(), POLLIN, 0};
    for (std::size_t i = 0; i < kReportsAtOnce && !process.over; ++i) {
      if (i > 0 && ::poll(&more, 1, 0) <= 0) return;
      const auto text = process.launched.report();
      if (!text || text->empty()) {
        process.over = true;
        return refuse(process.id, Category::lost,
                      "the launcher ended without saying how the command did");
      }
      take(process, *text);
    }
  }

  void take(Watched& process, const std::string& text) {
    const LauncherReport report = read_launcher_report(text);
    if (report.event == "ready") return ready(process, report);
    if (report.event == "output") return output(process, report);
    if (report.event == "violation") return violation(process, report);
    if (report.event == "refused") {
      process.over = true;
      return refuse(process.id, Category::sandbox, refusal_of(report));
    }
    if (report.event != "exited") return;
    output(process, report);
    process.over = true;
    process.launched.wait();
    owner_.parts_.loop.post([&owner = owner_, id = process.id, text] {
      const auto record = read_exit_record(text);
      if (record) return owner.settle(id, *record);
      owner.ended(
          id, {.failure = Failure{Category::lost, "the launcher's record cannot be read", false}});
    });
  }

  void ready(Watched& process, const LauncherReport& report) {
    process.ready_by.reset();
    schema::SandboxApplied sandbox;
    sandbox.mode = process.profile.mode;
    sandbox.cwd = process.profile.cwd;
    const bool writes = process.profile.mode != schema::SandboxMode::read_only;
    (writes ? sandbox.write_roots : sandbox.read_roots) = process.profile.roots;
    sandbox.network = schema::Json{schema::to_json(process.profile.network)};
    sandbox.process_limits = schema::Json{schema::to_json(process.profile.process_limits)};
    sandbox.layers = report.layers;
    schema::ProcessStarted started;
    started.command = process.request.command;
    started.cwd = process.profile.cwd;
    started.tty = false;
    started.pid = report.pid;
    started.start_ticks = report.start_ticks;
    std::string words;
    for (const std::string& word : process.request.argv) words.append(word).push_back('\0');
    started.argv_digest = "sha256:" + hex(bytes_of(sha256(words)));
    tell(process.id, [sandbox, started](ports::ProcessListener& listener) {
      listener.on_ready(sandbox, started);
    });
  }

  void output(Watched& process, const LauncherReport& report) {
    pass_on(process, schema::OutputStream::stdout_, "stdout", process.out,
            report.out.value_or(process.out));
    pass_on(process, schema::OutputStream::stderr_, "stderr", process.err,
            report.err.value_or(process.err));
  }
  // In pieces that do not split a character, as far as facts carry output at all.
  void pass_on(Watched& process, schema::OutputStream stream, const char* name, std::uint64_t& at,
               std::uint64_t size) {
    while (at < size && process.shown < schema::kProcessInlineBytes) {
      const std::size_t room = std::min<std::uint64_t>(
          {schema::kProcessPieceBytes, size - at, schema::kProcessInlineBytes - process.shown});
      std::string bytes = process.folder.read(name, at, room);
      if (bytes.empty()) return;
      if (const std::size_t whole = schema::utf8_prefix(bytes, room).size();
          whole > 0 && at + bytes.size() < size)
        bytes.resize(whole);
      schema::ProcessOutput piece;
      piece.stream = stream;
      piece.offset = at;
      at += bytes.size();
      process.shown += bytes.size();
      piece.text = std::move(bytes);
      tell(process.id, [piece = std::move(piece)](ports::ProcessListener& listener) mutable {
        listener.on_output(std::move(piece));
      });
    }
  }

  void violation(const Watched& process, const LauncherReport& report) {
    schema::SandboxViolation found;
    found.kind = schema::enum_of<schema::ViolationKind>(report.kind.value_or(""))
                     .value_or(schema::ViolationKind::process);
    found.attempted = report.attempted.value_or("");
    found.layer = report.layer.value_or("");
    found.advisory = report.advisory;
    tell(process.id, [found](ports::ProcessListener& listener) { listener.on_violation(found); });
  }

  void tell(const ProcessId& id, std::move_only_function<void(ports::ProcessListener&)> what) {
    owner_.parts_.loop.post([&owner = owner_, id, what = std::move(what)]() mutable {
      const auto found = owner.listeners_.find(id);
      if (found == owner.listeners_.end()) return;
      const auto listener = found->second;
      what(*listener);
    });
  }

  LauncherProcesses& owner_;
  std::vector<std::unique_ptr<Watched>> watched_;
  std::deque<ports::ProcessRequest> waiting_;  // at most one for each call under way
  bool stopping_ = false;
  std::mutex mutex_;
  std::vector<std::move_only_function<void()>> tasks_;  // under mutex_
  const Descriptor wake_;
  std::thread thread_;
};

LauncherProcesses::LauncherProcesses(Parts parts)
    : parts_(std::move(parts)), watcher_(std::make_unique<Watcher>(*this)) {
  parts_.loop.after(parts_.sweep_after_ms, [this] { sweep(); });
}
LauncherProcesses::~LauncherProcesses() = default;

void LauncherProcesses::stop() { watcher_.reset(); }

void LauncherProcesses::on_watcher(std::move_only_function<void(Watcher&)> task) {
  if (!watcher_) return;
  Watcher& watcher = *watcher_;
  watcher.post([&watcher, task = std::move(task)]() mutable { task(watcher); });
}

void LauncherProcesses::start(ports::ProcessRequest request,
                              std::shared_ptr<ports::ProcessListener> listener) {
  listeners_[request.id] = std::move(listener);
  on_watcher([request = std::move(request)](Watcher& watcher) mutable {
    watcher.start(std::move(request));
  });
}

void LauncherProcesses::release(const ProcessId& process) {
  on_watcher([process](Watcher& watcher) { watcher.order(process, "go"); });
}

void LauncherProcesses::terminate(const ProcessId& process) {
  on_watcher([process](Watcher& watcher) { watcher.order(process, "signal 15"); });
  parts_.loop.after(kTerminateGraceMs, [this, process] {
    if (!listeners_.contains(process)) return;
    on_watcher([process](Watcher& watcher) { watcher.order(process, "signal 9"); });
  });
}

void LauncherProcesses::forget(const ProcessId& process) {
  listeners_.erase(process);
  on_watcher([process](Watcher& watcher) { watcher.drop(process); });
}

void LauncherProcesses::ended(const ProcessId& process, ports::ProcessEnd end) {
  const auto found = listeners_.extract(process);
  if (found) found.mapped()->on_ended(std::move(end));
  run_soon([folder = folder_of(process)] { folder.remove(); });
}

void LauncherProcesses::run_soon(std::function<void()> task) {
  if (parts_.worker.run([task] { task(); })) return;
  parts_.loop.after(kLookEveryMs, [this, task = std::move(task)] { run_soon(task); });
}

void LauncherProcesses::settle(const ProcessId& process, const ExitRecord& record) {
  run_soon([this, process, record] {
    const RunFolder folder = folder_of(process);
    auto end =
        std::make_shared<ports::ProcessEnd>(end_of(folder, record, parts_.keeper, parts_.redact));
    parts_.loop.post([this, process, end] { ended(process, std::move(*end)); });
  });
}

void LauncherProcesses::find(const ProcessId& process,
                             std::shared_ptr<ports::ProcessListener> listener) {
  listeners_[process] = std::move(listener);
  look(process, kLooksMax);
}

// A runtime that dies between a turn's end and the end of its command leaves a folder that no open
// call names.
void LauncherProcesses::sweep() {
  run_soon([this] {
    std::vector<ProcessId> left;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(parts_.folder, error))
      left.push_back(ProcessId{entry.path().filename().string()});
    parts_.loop.post([this, left = std::move(left)] {
      for (const ProcessId& process : left)
        if (!listeners_.contains(process))
          run_soon([folder = folder_of(process)] { folder.remove(); });
    });
  });
}

// A launcher that has just lost its runtime ends its command and writes its record in a moment.
void LauncherProcesses::look(const ProcessId& process, int looks) {
  run_soon([this, process, looks] {
    const auto record = folder_of(process).exit_record();
    parts_.loop.post([this, process, looks, record] {
      if (record) return settle(process, *record);
      if (looks > 1) {
        parts_.loop.after(kLookEveryMs, [this, process, looks] { look(process, looks - 1); });
        return;
      }
      ended(process, {.failure = Failure{Category::lost,
                                         "the runtime stopped while the command ran, and how it "
                                         "ended is not known",
                                         false}});
    });
  });
}

}  // namespace agentrt::adapters
