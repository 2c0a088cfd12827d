#include "adapters/process/watcher.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "adapters/process/left_behind.h"
#include "adapters/process/memory_file.h"
#include "adapters/process/sandbox.h"
#include "base/digest.h"
#include "schema/tools.h"

namespace agentrt::adapters {

using schema::Category;
using schema::Failure;

namespace {

constexpr std::size_t kReportsAtOnce = 64;  // per launcher, before others are served
// Commands of a job's items give way to the runtime and to the commands of turns: a job has
// thousands of them, and a person may wait for a turn.
constexpr std::uint8_t kItemNice = 10;

std::size_t inline_bytes_max(bool background) {
  return background ? schema::kBackgroundInlineBytes : schema::kProcessInlineBytes;
}

// Only an `unavailable` error is retryable.
Failure failure_of(const Error& error, Category otherwise) {
  const bool passes = error.code == Code::unavailable;
  return {passes ? Category::unavailable : otherwise, error.message, passes};
}

schema::SandboxApplied applied(const schema::SandboxProfile& profile,
                               const LauncherReport& report) {
  schema::SandboxApplied sandbox;
  sandbox.mode = profile.mode;
  sandbox.cwd = profile.cwd;
  const bool writes = profile.mode != schema::SandboxMode::read_only;
  (writes ? sandbox.write_roots : sandbox.read_roots) = profile.roots;
  sandbox.network = schema::Json{schema::to_json(profile.network)};
  sandbox.process_limits = schema::Json{schema::to_json(profile.process_limits)};
  sandbox.layers = report.layers;
  return sandbox;
}

schema::ProcessStarted started_of(const ports::ProcessRequest& request, const std::string& cwd,
                                  const LauncherReport& report) {
  schema::ProcessStarted started;
  started.command = request.command;
  started.cwd = cwd;
  started.tty = request.tty;
  started.pid = report.pid;
  started.start_ticks = report.start_ticks;
  std::string words;
  for (const std::string& word : request.argv) words.append(word).push_back('\0');
  started.argv_digest = "sha256:" + hex(bytes_of(sha256(words)));
  return started;
}

// Adds the approved files to the spec. The notify layer becomes required, because the supervisor
// must answer for these files.
void hold_files(launcher::Spec& spec, const ports::HeldFiles& held) {
  spec.cwd_identity = held.cwd_identity;
  for (const std::uint64_t size : held.sizes) spec.held_sizes.push_back(std::to_string(size));
  for (const ports::HeldFiles::Path& path : held.paths) {
    spec.held_files.push_back(std::to_string(path.file));
    spec.held_paths.push_back(path.path);
    spec.held_folders.push_back(path.folder);
  }
  for (const ports::HeldFiles::Link& link : held.links) {
    spec.held_links.push_back(link.path);
    spec.held_targets.push_back(link.target);
  }
  if (!held.sizes.empty()) spec.required |= bit(launcher::Layer::notify);
}

}  // namespace

Watcher::Watcher(Parts parts)
    : parts_(std::move(parts)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { run(); }) {}

Watcher::~Watcher() {
  post([](Watcher& self) { self.stopping_ = true; });
  thread_.join();
}

void Watcher::post(std::move_only_function<void(Watcher&)> task) {
  {
    const std::scoped_lock lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof(one));
}

// --- requests ---

void Watcher::start(ports::ProcessRequest request) {
  waiting_.push_back(std::move(request));
  begin_waiting();
}

std::size_t Watcher::count(bool background) const {
  return static_cast<std::size_t>(std::ranges::count_if(watched_, [&](const auto& each) {
    return each->background == background && each->stage != Stage::over;
  }));
}

// An ending process still owns the run folder that a new one of the same name needs.
bool Watcher::is_ending(const ProcessId& id) const {
  return std::ranges::any_of(
      watched_, [&](const auto& each) { return each->id == id && each->stage == Stage::ending; });
}

void Watcher::begin_waiting() {
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    if (is_ending(next->id) || (!next->background && count(false) >= parts_.processes_max)) {
      ++next;
      continue;
    }
    ports::ProcessRequest request = std::move(*next);
    next = waiting_.erase(next);
    begin(std::move(request));
  }
}

void Watcher::begin(ports::ProcessRequest request) {
  const ProcessId id = request.id;
  if (request.background && count(true) >= parts_.background_max)
    return parts_.hearer.refused(id, {Category::unavailable,
                                      fmt::format("the command was not run: the limit of {} "
                                                  "background processes of this runtime is reached",
                                                  parts_.background_max),
                                      false});
  auto profile = parts_.profile(request);
  if (!profile)
    return parts_.hearer.refused(id, failure_of(profile.error(), Category::invalid_input));
  RunFolder folder{parts_.folder + "/" + id.text(), kSpoolBytes};
  if (const auto free = folder.make_way(); !free)
    return parts_.hearer.refused(id, failure_of(free.error(), Category::unavailable));
  const Repositories repositories = repositories_of(*profile);
  launcher::Spec spec = spec_of(*profile, request.argv, repositories);
  spec.run_folder = folder.path();
  spec.spool_bytes = kSpoolBytes;
  spec.survive = request.background;
  // Without a terminal a foreground command gets no input.
  spec.no_input = !request.background && !request.tty;
  spec.tty = request.tty;
  if (request.tty) {
    std::erase_if(spec.env, [](const std::string& each) { return each.starts_with("TERM="); });
    spec.env.emplace_back("TERM=xterm-256color");
  }
  folder.keep_state(state_of_workspace(*profile, repositories));
  if (request.held) hold_files(spec, *request.held);
  Descriptor input;
  if (request.input) {
    auto file = input_file(*request.input);
    if (!file) return parts_.hearer.refused(id, failure_of(file.error(), Category::unavailable));
    input = *std::move(file);
    spec.no_input = false;
    spec.given_input = true;
    spec.nice = kItemNice;
  }
  auto launched = launch(spec, {.in = input ? input.get() : -1},
                         request.held ? request.held->copies.get() : -1);
  if (!launched) return parts_.hearer.refused(id, failure_of(launched.error(), Category::sandbox));
  watched_.push_back(std::make_unique<Watched>(Watched{
      .id = id,
      .launched = *std::move(launched),
      .pieces = {std::move(folder), {.tty = request.tty}, inline_bytes_max(request.background)},
      .background = request.background,
      .due = Clock::now() + std::chrono::milliseconds(kSetupMaxMs),
      .profile = *std::move(profile),
      .request = std::move(request)}));
}

// A file in memory, not a pipe: the command may ignore its input.
Result<Descriptor> Watcher::input_file(const ports::StoredInput& input) const {
  if (!parts_.inputs) return fail(Code::unavailable, "there is no stored input here");
  TRY_ASSIGN(std::string bytes, parts_.inputs->bytes(input.ref, input.offset, input.size));
  bytes += '\n';
  return file_in_memory("agentrt-input", bytes);
}

void Watcher::follow(const ProcessId& id, const ports::ReceivedSoFar& heard) {
  RunFolder folder{parts_.folder + "/" + id.text(), kSpoolBytes};
  auto launched = attach(folder.path());
  if (!launched && launched.error().code == Code::overloaded)
    return parts_.hearer.not_now(id, heard);
  OutputPieces pieces{std::move(folder), heard, inline_bytes_max(true)};
  if (!launched || !launched->order("status"))
    return parts_.hearer.lost_sight(id, std::move(pieces), kLooksMax);
  watched_.push_back(std::make_unique<Watched>(Watched{.id = id,
                                                       .launched = *std::move(launched),
                                                       .pieces = std::move(pieces),
                                                       .background = true,
                                                       .released = true,
                                                       .found = true,
                                                       .stage = Stage::running}));
}

Watcher::Watched* Watcher::find(const ProcessId& id) {
  const auto at = std::ranges::find_if(
      watched_, [&](const auto& each) { return each->id == id && each->stage <= Stage::running; });
  return at == watched_.end() ? nullptr : at->get();
}

void Watcher::release(const ProcessId& id) {
  Watched* process = find(id);
  if (!process) return;
  process->released = true;
  (void)process->launched.order("go");
}

void Watcher::signal(const ProcessId& id, int number) {
  if (const Watched* process = find(id))
    (void)process->launched.order(fmt::format("signal {}", number));
}

void Watcher::write(const ProcessId& id, const std::string& input, ports::AfterInput after) {
  const Watched* process = find(id);
  // A process that is not found again yet cannot be reached. The input was accepted, so the loss is
  // reported.
  bool taken = process && (input.empty() || process->launched.order("input " + input).has_value());
  if (process && after == ports::AfterInput::closes)
    taken = process->launched.order("closeInput").has_value() && taken;
  if (!taken)
    parts_.hearer.tell(id, [](ports::ProcessListener& listener) { listener.on_input_refused(); });
}

void Watcher::resize(const ProcessId& id, std::uint64_t rows, std::uint64_t columns) {
  if (const Watched* process = find(id))
    (void)process->launched.order(fmt::format("resize {} {}", rows, columns));
}

void Watcher::drop(const ProcessId& id) {
  std::erase_if(waiting_, [&](const ports::ProcessRequest& each) { return each.id == id; });
  if (Watched* process = find(id)) {
    // Closing the connection kills a command that must not survive; a background one needs a
    // signal.
    if (process->background) (void)process->launched.order("signal 9");
    return end(*process, Then::remove_folder);
  }
  const auto ending = std::ranges::find_if(
      watched_, [&](const auto& each) { return each->id == id && each->stage == Stage::ending; });
  if (ending != watched_.end())
    (*ending)->then = Then::remove_folder;
  else
    RunFolder{parts_.folder + "/" + id.text(), kSpoolBytes}.remove();
}

void Watcher::leave(const ProcessId& id) {
  Watched* process = find(id);
  if (!process) return;
  if (process->background && process->released)
    process->launched.leave();
  else
    process->launched.close();
  process->stage = Stage::over;
}

// --- the event loop ---

void Watcher::run() {
  ::pthread_setname_np(::pthread_self(), "agentrt-proc");
  while (!stopping_) {
    std::vector<pollfd> waits{{wake_.get(), POLLIN, 0}};
    for (const auto& each : watched_)
      waits.push_back(
          {each->stage == Stage::ending ? each->gone.get() : each->launched.control(), POLLIN, 0});
    if (::poll(waits.data(), waits.size(), wait_ms()) < 0) continue;
    for (std::size_t i = 1; i < waits.size(); ++i) {
      if (waits[i].revents == 0) continue;
      Watched& process = *watched_[i - 1];
      process.stage == Stage::ending ? ended(process) : hear(process);
    }
    give_up_late_ones();
    std::erase_if(watched_, [](const auto& each) { return each->stage == Stage::over; });
    if (waits[0].revents != 0) run_tasks();
    begin_waiting();
  }
  for (const auto& each : watched_) {
    const bool goes_on = each->background && each->released && each->stage == Stage::running;
    if (!goes_on && !each->gone) each->gone = each->launched.end();
    goes_on ? each->launched.leave() : each->launched.close();
  }
  for (const auto& each : watched_) {
    pollfd gone{each->gone.get(), POLLIN, 0};
    if (each->gone && ::poll(&gone, 1, kEndMaxMs) <= 0) each->launched.leave();
  }
  watched_.clear();
}

// Time until the first deadline, for poll(); -1: none.
int Watcher::wait_ms() const {
  std::optional<Clock::time_point> first;
  for (const auto& each : watched_)
    if (each->due && (!first || *each->due < *first)) first = each->due;
  if (!first) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*first - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, kSetupMaxMs));
}

void Watcher::give_up_late_ones() {
  for (const auto& each : watched_) {
    if (each->stage == Stage::over || !each->due || Clock::now() < *each->due) continue;
    if (each->stage == Stage::ending) {
      each->launched.leave();
      ended(*each);
    } else {
      refuse(*each, Category::sandbox,
             fmt::format("the sandbox was not ready within {} s", kSetupMaxMs / 1'000));
    }
  }
}

void Watcher::run_tasks() {
  std::uint64_t count = 0;
  (void)!::read(wake_.get(), &count, sizeof(count));
  std::vector<std::move_only_function<void(Watcher&)>> tasks;
  {
    const std::scoped_lock lock(mutex_);
    tasks.swap(tasks_);
  }
  for (auto& task : tasks) task(*this);
}

void Watcher::refuse(Watched& process, Category category, std::string why) {
  parts_.hearer.refused(process.id, {category, std::move(why), false});
  end(process, Then::remove_folder);  // also if its launcher is just creating it
}

// Closes the connection, so that the launcher exits; `then` is done after it has.
void Watcher::end(Watched& process, Then then) {
  process.then = then;
  process.gone = process.launched.end();
  process.launched.close();
  process.stage = Stage::ending;
  process.due = Clock::now() + std::chrono::milliseconds(kEndMaxMs);
  if (!process.gone) ended(process);  // not our child, so do not wait
}

void Watcher::ended(Watched& process) {
  process.launched.wait();
  process.stage = Stage::over;
  process.due.reset();
  if (process.then == Then::remove_folder) process.pieces.folder().remove();
}

// --- reports ---

void Watcher::hear(Watched& process) {
  pollfd more{process.launched.control(), POLLIN, 0};
  for (std::size_t i = 0; i < kReportsAtOnce && process.stage <= Stage::running; ++i) {
    if (i > 0 && ::poll(&more, 1, 0) <= 0) return;
    const auto text = process.launched.report();
    if (text && !text->empty()) {
      take(process, *text);
    } else if (process.stage == Stage::running && process.released) {
      // A found launcher may still be ending. Our own has exited, so its record exists now or never
      // will.
      parts_.hearer.lost_sight(process.id, process.pieces, process.found ? kLooksMax : 1);
      end(process, Then::nothing);
    } else {
      refuse(process, Category::lost,
             "the launcher ended without reporting the outcome of the command");
    }
  }
}

void Watcher::take(Watched& process, const std::string& text) {
  const LauncherReport report = read_launcher_report(text);
  // Its first report proves that it runs. A connection alone does not: the launcher may be exiting.
  if (process.found && !std::exchange(process.answered, true) && report.event != "exited")
    parts_.hearer.tell(process.id, [](ports::ProcessListener& listener) { listener.on_found(); });
  if (report.event == "ready") return ready(process, report);
  // Prepare the next launch only now, because before it would compete with this command for a
  // processor.
  if (report.event == "started") return get_ready_for_next();
  if (report.event == "output") return output(process, report);
  if (report.event == "violation") return violation(process, report);
  if (report.event == "inputRefused")
    return parts_.hearer.tell(
        process.id, [](ports::ProcessListener& listener) { listener.on_input_refused(); });
  if (report.event == "refused") return refuse(process, Category::sandbox, refusal_of(report));
  if (report.event != "exited") return;
  output(process, report);
  if (report.started.value_or(false)) inspect(process);
  // Everything is written by now: its launcher only tidies up, which nobody need wait for.
  parts_.hearer.exited(process.id, text);
  end(process, Then::nothing);
}

void Watcher::ready(Watched& process, const LauncherReport& report) {
  process.stage = Stage::running;
  process.due.reset();
  const schema::SandboxApplied sandbox = applied(process.profile, report);
  const schema::ProcessStarted started = started_of(process.request, process.profile.cwd, report);
  process.profile = {};
  process.request = {};
  parts_.hearer.tell(process.id, [sandbox, started](ports::ProcessListener& listener) {
    listener.on_ready(sandbox, started);
  });
}

void Watcher::output(Watched& process, const LauncherReport& report) {
  process.pieces.give(
      report.out.value_or(0), report.err.value_or(0), [&](schema::ProcessOutput piece) {
        parts_.hearer.tell(process.id,
                           [piece = std::move(piece)](ports::ProcessListener& hears) mutable {
                             hears.on_output(std::move(piece));
                           });
      });
}

// Reports the files that the command left in its workspace and that programs outside obey. Done
// here, where a command without output costs no detour over a worker.
void Watcher::inspect(const Watched& process) {
  for (const schema::SandboxViolation& found : left_behind(process.pieces.folder().state()))
    parts_.hearer.tell(process.id,
                       [found](ports::ProcessListener& listener) { listener.on_violation(found); });
}

void Watcher::violation(const Watched& process, const LauncherReport& report) {
  schema::SandboxViolation found;
  found.kind = schema::enum_of<schema::ViolationKind>(report.kind.value_or(""))
                   .value_or(schema::ViolationKind::process);
  found.attempted = report.attempted.value_or("");
  found.layer = report.layer.value_or("");
  found.advisory = report.advisory;
  parts_.hearer.tell(process.id,
                     [found](ports::ProcessListener& listener) { listener.on_violation(found); });
}

}  // namespace agentrt::adapters
