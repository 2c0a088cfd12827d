#include "adapters/process/processes.h"

#include <array>
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

constexpr std::string_view kDiskTookNoMore = "the disk was full";
constexpr std::string_view kLauncherKilled = "its launcher was killed";

std::string lost_because(const Spooled& stream) {
  return std::string(stream.exact ? kDiskTookNoMore : kLauncherKilled);
}

using Stream = std::pair<const char*, Spooled>;

std::array<Stream, 2> streams_of(const ExitRecord& record) {
  return {Stream{"stdout", record.out}, Stream{"stderr", record.err}};
}

// The beginning and end of both streams, for model and user, with notes about missing parts.
std::string preview_of(const RunFolder& folder, const ExitRecord& record, const Redact& redact) {
  std::string text;
  for (const auto& [name, stream] : streams_of(record)) {
    if (stream.size == 0) continue;
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    if (name == std::string_view("stderr")) text += "[stderr]\n";
    text += folder.preview(name, stream.kept, redact);
    if (!stream.whole())
      text += fmt::format(
          "\n[{} ends here; {}{} more bytes that the command wrote were not stored: {}]", name,
          stream.exact ? "" : "at least ", stream.size - stream.kept, lost_because(stream));
  }
  return text;
}

// Stores streams that exceed the preview or are incomplete as outputs, and notes what could not be
// stored. False: the disk is full. Blocking.
bool keep_outputs(const RunFolder& folder, const ExitRecord& record, ports::OutputKeeper& keeper,
                  ports::ProcessEnd& end) {
  bool room = true;
  for (const auto& [name, stream] : streams_of(record)) {
    if (stream.whole() && stream.size <= 2 * kPreviewHalf) continue;
    schema::LostOutput lost{.stream = name,
                            .size = stream.size,
                            .exact = stream.exact,
                            .kept = stream.kept,
                            .why = lost_because(stream)};
    if (stream.kept > 0) {
      const auto path = folder.whole(name, stream.kept);
      ports::OutputMeta meta;
      if (!stream.whole() || stream.size > Watcher::kSpoolBytes) meta.whole_size = stream.size;
      auto output = path ? keeper.keep_file(*path, meta)
                         : Result<schema::KeptOutput>(fail(
                               Code::storage_full, "there is not enough disk space to store it"));
      if (output) {
        end.outputs.push_back(*std::move(output));
      } else {
        room = room && output.error().code != Code::storage_full;
        lost.kept = 0;
        lost.why = output.error().message;
        end.preview += fmt::format("\n[the rest of {} could not be stored: {}]", name, lost.why);
      }
    }
    if (lost.kept < lost.size) end.lost.push_back(std::move(lost));
  }
  return room;
}

Failure how_abandoned(const ExitRecord& record) {
  return {Category::interrupted,
          record.started ? "the runtime stopped while the command ran, and the command was killed"
                         : "the runtime stopped before the command was started: it did not run",
          false};
}

}  // namespace

LauncherProcesses::LauncherProcesses(Parts parts)
    : parts_(std::move(parts)),
      watcher_(std::make_unique<Watcher>(Watcher::Parts{.hearer = *this,
                                                        .folder = parts_.folder,
                                                        .profile = parts_.profile,
                                                        .processes_max = parts_.processes_max,
                                                        .background_max = parts_.background_max,
                                                        .inputs = parts_.inputs})) {
  parts_.loop.after(parts_.sweep_after_ms, [this] { sweep(); });
}
LauncherProcesses::~LauncherProcesses() = default;

void LauncherProcesses::stop() { watcher_.reset(); }

void LauncherProcesses::on_watcher(std::move_only_function<void(Watcher&)> task) {
  if (watcher_) watcher_->post(std::move(task));
}

// --- the port's functions ---

void LauncherProcesses::start(ports::ProcessRequest request,
                              std::shared_ptr<ports::ProcessListener> listener) {
  listeners_[request.id] = std::move(listener);
  on_watcher([request = std::move(request)](Watcher& watcher) mutable {
    watcher.start(std::move(request));
  });
}

void LauncherProcesses::follow(const ProcessId& process, const ports::ReceivedSoFar& heard,
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
  unsettled_.erase(process);
  on_watcher([process](Watcher& watcher) { watcher.drop(process); });
}

void LauncherProcesses::leave(const ProcessId& process) {
  listeners_.erase(process);
  on_watcher([process](Watcher& watcher) { watcher.leave(process); });
}

void LauncherProcesses::settled(const ProcessId& process) {
  if (unsettled_.erase(process) == 0) return;
  run_soon([folder = folder_of(process)] { folder.remove(); });
}

Result<schema::ExecutionEnvironment> LauncherProcesses::environment(
    const ports::ProcessRequest& request) {
  TRY_ASSIGN(const schema::SandboxProfile outline, parts_.outline(request));
  return environment_of(outline);
}

// --- reports of the watcher ---

void LauncherProcesses::tell(const ProcessId& process, Told what) {
  parts_.loop.post([this, process, what = std::move(what)]() mutable {
    const auto found = listeners_.find(process);
    if (found == listeners_.end()) return;
    const auto listener = found->second;
    what(*listener);
  });
}

void LauncherProcesses::not_now(const ProcessId& process, const ports::ReceivedSoFar& heard) {
  parts_.loop.post([this, process, heard] {
    parts_.loop.after(kLookEveryMs, [this, process, heard] {
      if (!listeners_.contains(process)) return;
      on_watcher([process, heard](Watcher& watcher) { watcher.follow(process, heard); });
    });
  });
}

void LauncherProcesses::refused(const ProcessId& process, Failure why) {
  parts_.loop.post([this, process, why = std::move(why)] { ended(process, {.failure = why}); });
}

void LauncherProcesses::exited(const ProcessId& process, std::string record) {
  parts_.loop.post([this, process, record = std::move(record)] {
    if (const auto read = read_exit_record(record))
      return settle(process, {}, *read, parts_.keep_tries_max);
    ended(process,
          {.failure = Failure{Category::lost, "the launcher's record cannot be read", false}});
  });
}

void LauncherProcesses::lost_sight(const ProcessId& process, OutputPieces rest, int looks) {
  parts_.loop.post([this, process, rest = std::move(rest), looks] { look(process, rest, looks); });
}

// The run folder stays: until the log has this end, a crash may make a later boot look for it.
void LauncherProcesses::ended(const ProcessId& process, ports::ProcessEnd end) {
  const auto found = listeners_.extract(process);
  if (!found) return;
  unsettled_.insert(process);
  found.mapped()->on_ended(std::move(end));
}

void LauncherProcesses::run_soon(std::function<void()> task) {
  if (parts_.worker.run([task] { task(); })) return;
  parts_.loop.after(kLookEveryMs, [this, task = std::move(task)] { run_soon(task); });
}

void LauncherProcesses::settle(const ProcessId& process, std::optional<OutputPieces> rest,
                               const ExitRecord& record, int tries) {
  const RunFolder folder = folder_of(process);
  auto end = std::make_shared<ports::ProcessEnd>();
  end->exit_code = record.code;
  end->signal = record.signal;
  end->failure = record.lost;
  if (record.abandoned) end->failure = how_abandoned(record);
  end->never_ran = record.abandoned && !record.started;
  const bool silent = record.out.size == 0 && record.err.size == 0;
  if (silent) return ended(process, std::move(*end));  // there is nothing to read
  run_soon([this, process, rest, record, tries, folder, end]() mutable {
    if (!folder.can_be_read()) {
      parts_.loop.post([this, process, rest, record, tries] {
        parts_.loop.after(kLookEveryMs, [this, process, rest, record, tries] {
          settle(process, rest, record, tries);
        });
      });
      return;
    }
    if (rest)
      rest->give(record.out.kept, record.err.kept, [&](schema::ProcessOutput piece) {
        tell(process, [piece = std::move(piece)](ports::ProcessListener& listener) mutable {
          listener.on_output(std::move(piece));
        });
      });
    end->preview = preview_of(folder, record, parts_.redact);
    const bool done = keep_outputs(folder, record, parts_.keeper, *end) || tries <= 1;
    parts_.loop.post([this, process, record, tries, end, done] {
      if (done) return ended(process, std::move(*end));
      parts_.loop.after(kKeepEveryMs,
                        [this, process, record, tries] { settle(process, {}, record, tries - 1); });
    });
  });
}

void LauncherProcesses::find(const ProcessId& process,
                             std::shared_ptr<ports::ProcessListener> listener) {
  listeners_[process] = std::move(listener);
  look(process, {}, Watcher::kLooksMax);
}

// Removes run folders that belong to no open call; a runtime leaves one if it dies between the end
// of a turn and the end of its command. A command that still runs there (because the log was
// restored from a backup or is unreadable) is killed, so that nothing runs unobserved.
void LauncherProcesses::sweep() {
  run_soon([this] {
    std::vector<ProcessId> left;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(parts_.folder, error))
      left.push_back(ProcessId{entry.path().filename().string()});
    parts_.loop.post([this, left = std::move(left)] {
      for (const ProcessId& process : left)
        if (!listeners_.contains(process) && !unsettled_.contains(process))
          run_soon([folder = folder_of(process)] {
            const auto unseen = attach(folder.path());
            if (!unseen && unseen.error().code == Code::overloaded) return;  // it may still run
            if (unseen) (void)unseen->order("signal 9");
            folder.remove();
          });
    });
  });
}

// Looks up the exit record. A launcher that lost its runtime kills its command and writes the
// record shortly after. Without a record, the spooled output is all there is.
void LauncherProcesses::look(const ProcessId& process, std::optional<OutputPieces> rest,
                             int looks) {
  run_soon([this, process, rest = std::move(rest), looks] {
    const RunFolder folder = folder_of(process);
    auto record = folder.exit_record();
    const bool looked = record || folder.can_be_read();
    if (!record && looked && looks <= 1)
      record = ExitRecord{.out = folder.left_of("stdout"),
                          .err = folder.left_of("stderr"),
                          .lost = Failure{Category::lost,
                                          "its launcher or the runtime was killed while the "
                                          "command ran; how it ended is unknown",
                                          false}};
    // The watcher did not hear of this end, so nobody has inspected what the command left.
    if (record && record->started)
      for (const schema::SandboxViolation& found : left_behind(folder.state()))
        tell(process, [found](ports::ProcessListener& listener) { listener.on_violation(found); });
    parts_.loop.post([this, process, rest, left = looks - (looked ? 1 : 0), record] {
      if (record) return settle(process, rest, *record, parts_.keep_tries_max);
      parts_.loop.after(kLookEveryMs, [this, process, rest, left] { look(process, rest, left); });
    });
  });
}

}  // namespace agentrt::adapters
