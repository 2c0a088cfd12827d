#include "adapters/process/processes.h"

#include <csignal>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "adapters/process/environment.h"
#include "adapters/process/left_behind.h"

namespace agentrt::adapters {

using schema::Category;
using schema::Failure;

namespace {

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
    if (size > Watcher::kSpoolBytes) meta.whole_size = size;
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
  end.never_ran = record.abandoned && !record.started;
  return end;
}

}  // namespace

LauncherProcesses::LauncherProcesses(Parts parts)
    : parts_(std::move(parts)),
      watcher_(std::make_unique<Watcher>(Watcher::Parts{.hearer = *this,
                                                        .folder = parts_.folder,
                                                        .profile = parts_.profile,
                                                        .processes_max = parts_.processes_max,
                                                        .background_max = parts_.background_max})) {
  parts_.loop.after(parts_.sweep_after_ms, [this] { sweep(); });
}
LauncherProcesses::~LauncherProcesses() = default;

void LauncherProcesses::stop() { watcher_.reset(); }

void LauncherProcesses::on_watcher(std::move_only_function<void(Watcher&)> task) {
  if (watcher_) watcher_->post(std::move(task));
}

// --- what the engine asks for ---

void LauncherProcesses::start(ports::ProcessRequest request,
                              std::shared_ptr<ports::ProcessListener> listener) {
  listeners_[request.id] = std::move(listener);
  on_watcher([request = std::move(request)](Watcher& watcher) mutable {
    watcher.start(std::move(request));
  });
}

void LauncherProcesses::follow(const ProcessId& process, const ports::HeardSoFar& heard,
                               std::shared_ptr<ports::ProcessListener> listener) {
  listeners_[process] = std::move(listener);
  on_watcher([process, heard](Watcher& watcher) { watcher.follow(process, heard); });
}

void LauncherProcesses::release(const ProcessId& process) {
  on_watcher([process](Watcher& watcher) { watcher.release(process); });
}

void LauncherProcesses::terminate(const ProcessId& process) {
  on_watcher([process](Watcher& watcher) { watcher.signal(process, SIGTERM); });
  parts_.loop.after(kTerminateGraceMs, [this, process] {
    if (!listeners_.contains(process)) return;
    on_watcher([process](Watcher& watcher) { watcher.signal(process, SIGKILL); });
  });
}

void LauncherProcesses::write(const ProcessId& process, std::string input,
                              ports::AfterInput after) {
  on_watcher([process, input = std::move(input), after](Watcher& watcher) {
    watcher.write(process, input, after);
  });
}

void LauncherProcesses::resize(const ProcessId& process, std::uint64_t rows,
                               std::uint64_t columns) {
  on_watcher([=](Watcher& watcher) { watcher.resize(process, rows, columns); });
}

void LauncherProcesses::forget(const ProcessId& process) {
  listeners_.erase(process);
  on_watcher([process](Watcher& watcher) { watcher.drop(process); });
}

void LauncherProcesses::leave(const ProcessId& process) {
  listeners_.erase(process);
  on_watcher([process](Watcher& watcher) { watcher.leave(process); });
}

Result<schema::ExecutionEnvironment> LauncherProcesses::environment(
    const ports::ProcessRequest& request) {
  TRY_ASSIGN(const schema::SandboxProfile outline, parts_.outline(request));
  return environment_of(outline);
}

// --- what the watcher hears ---

void LauncherProcesses::tell(const ProcessId& process, Told what) {
  parts_.loop.post([this, process, what = std::move(what)]() mutable {
    const auto found = listeners_.find(process);
    if (found == listeners_.end()) return;
    const auto listener = found->second;
    what(*listener);
  });
}

void LauncherProcesses::refused(const ProcessId& process, Failure why) {
  parts_.loop.post([this, process, why = std::move(why)] { ended(process, {.failure = why}); });
}

void LauncherProcesses::exited(const ProcessId& process, std::string record) {
  parts_.loop.post([this, process, record = std::move(record)] {
    if (const auto read = read_exit_record(record)) return settle(process, *read);
    ended(process,
          {.failure = Failure{Category::lost, "the launcher's record cannot be read", false}});
  });
}

void LauncherProcesses::lost_sight(const ProcessId& process) {
  parts_.loop.post([this, process] { look(process, kLooksMax); });
}

void LauncherProcesses::ended(const ProcessId& process, ports::ProcessEnd end) {
  const auto found = listeners_.extract(process);
  if (found) found.mapped()->on_ended(std::move(end));
  // In a step of its own: what was reported comes first.
  parts_.loop.post(
      [this, folder = folder_of(process)] { run_soon([folder] { folder.remove(); }); });
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
    tell_left_behind(process, folder, record);
    parts_.loop.post([this, process, end] { ended(process, std::move(*end)); });
  });
}

// Files that it left in the workspace and that programs outside obey. On a worker.
void LauncherProcesses::tell_left_behind(const ProcessId& process, const RunFolder& folder,
                                         const ExitRecord& record) {
  if (!record.started) return;
  for (const schema::SandboxViolation& found : left_behind(folder.state()))
    tell(process, [found](ports::ProcessListener& listener) { listener.on_violation(found); });
}

void LauncherProcesses::find(const ProcessId& process,
                             std::shared_ptr<ports::ProcessListener> listener) {
  listeners_[process] = std::move(listener);
  look(process, kLooksMax);
}

// A runtime that dies between a turn's end and the end of its command leaves a folder that no open
// call names. Should a command still run in one, because its log was put back to an earlier state
// or cannot be read, it is ended: nothing runs unseen.
void LauncherProcesses::sweep() {
  run_soon([this] {
    std::vector<ProcessId> left;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(parts_.folder, error))
      left.push_back(ProcessId{entry.path().filename().string()});
    parts_.loop.post([this, left = std::move(left)] {
      for (const ProcessId& process : left)
        if (!listeners_.contains(process))
          run_soon([folder = folder_of(process)] {
            if (const auto unseen = attach(folder.path())) (void)unseen->order("signal 9");
            folder.remove();
          });
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
