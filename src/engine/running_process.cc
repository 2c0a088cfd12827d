#include "engine/running_process.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "engine/processes.h"
#include "engine/running_call.h"
#include "policy/permission.h"
#include "policy/redaction.h"
#include "policy/shell/analysis.h"
#include "schema/tools.h"
#include "schema/utf8.h"
#include "tools/registry.h"
#include "tools/shell.h"

namespace agentrt::engine {

using namespace schema;

namespace {

// The text for bash. An approved text runs as shown. Any other text was allowed by the words that
// the analysis found, so bash gets its canonical form, unless it is dynamic.
std::string text_to_run(const state::ToolCall& call, const std::string& command) {
  if (call.stage != state::CallStage::started || call.as_shown) return command;
  return policy::shell::analyse(command).canonical.value_or(command);
}

// An item of a job gets its line on standard input, and the environment of the job.
void add_item(const state::Session& view, const TurnId& turn, ports::ProcessRequest& request) {
  const state::Turn* of_call = state::find_turn(view, turn);
  if (!of_call || !of_call->item || !of_call->ids.job) return;
  const auto job = view.jobs.find(*of_call->ids.job);
  if (job == view.jobs.end()) return;
  const JobLine& at = of_call->item->at;
  request.turn = environment_of(of_call->ids);
  request.input = ports::StoredInput{job->second.record.input_ref, at.offset, at.size};
}

}  // namespace

// Receives the events of a process and reports them. Output and violations are batched; one such
// report is in flight at a time. Facts hold at most kProcessInlineBytes of output, or
// kBackgroundInlineBytes for a background process.
class Engine::RunningProcess::Listener final : public ports::ProcessListener,
                                               public std::enable_shared_from_this<Listener> {
 public:
  Listener(const Parts& parts, SessionId session, TurnId turn, ToolCallId call, ProcessId process)
      : parts_(parts), session_(std::move(session)), since_(parts.loop.now()) {
    news_.turn = std::move(turn);
    news_.call = std::move(call);
    news_.process = std::move(process);
  }

  void hold_until_stored() { stored_ = false; }
  void stored() {
    stored_ = true;
    for (auto& report : std::exchange(held_, {})) report();
  }
  // 0: no limit.
  void limit(std::uint64_t timeout_ms) { timeout_ms_ = timeout_ms; }
  // For an approved call: copies the executed files first, so that the process gets these bytes.
  // The state is inspected again before the process is released.
  void start_bound(ports::ProcessRequest request, std::vector<std::string> executes) {
    auto task = std::make_shared<ports::Step>([&parts = parts_, self = shared_from_this(),
                                               request = std::move(request),
                                               executes = std::move(executes)]() mutable {
      auto held = parts.inspector.hold(request, executes);
      parts.loop.post([self, request = std::move(request), held = std::move(held)]() mutable {
        self->start_held(std::move(request), std::move(held));
      });
    });
    run_soon(parts_.loop, parts_.worker, std::move(task));
  }
  // The same with files that were copied before.
  void start_with(ports::ProcessRequest request, std::shared_ptr<const ports::HeldFiles> held) {
    request.held = std::move(held);
    bound_ = request;
    parts_.processes.start(std::move(request), shared_from_this());
  }
  // Called with the copies once they are made.
  void keep_held(std::function<void(std::shared_ptr<const ports::HeldFiles>)> keep) {
    keep_held_ = std::move(keep);
  }
  // Records the text that bash gets instead of the call's text.
  void run_as(std::string executed) { executed_ = std::move(executed); }
  void run_in_background() {
    background_ = true;
    inline_bytes_max_ = kBackgroundInlineBytes;
  }
  // Continues with a process of another boot; its earlier output and running time count.
  void take_over(const FollowProcess& what) {
    run_in_background();
    limit(what.timeout_ms.value_or(0));
    inline_bytes_ = what.out_shown + what.err_shown;
    let_go_ = true;
    const std::int64_t ran = parts_.loop.since(what.started_at);
    arm(std::max<std::int64_t>(0, static_cast<std::int64_t>(timeout_ms_) - ran));
  }

  void on_ready(const SandboxApplied& sandbox, const ProcessStarted& started) override {
    if (!wanted_) return;
    ReportProcessReady report{news_.turn, news_.call, news_.process, sandbox, started, {}};
    report.started.executed = executed_;
    if (background_) report.started.background = true;
    if (background_ && timeout_ms_ > 0) report.started.timeout_ms = timeout_ms_;
    if (!bound_) return say(std::move(report));
    auto task = std::make_shared<ports::Step>(
        [&parts = parts_, self = shared_from_this(), report = std::move(report)]() mutable {
          if (auto binding = look_at(parts.inspector, *self->bound_, {})) {
            binding->files = self->bound_->held->files;
            report.binding = *std::move(binding);
          }
          parts.loop.post([self, report = std::move(report)]() mutable {
            self->bound_.reset();  // releases the copies, which the process has by now
            if (self->wanted_) self->say(std::move(report));
          });
        });
    run_soon(parts_.loop, parts_.worker, std::move(task));
  }
  void on_found() override { notice(ReportProcessNotice::What::found); }
  void on_input_refused() override { notice(ReportProcessNotice::What::input_refused); }

  // Releases the process. Called when the log has stored that it runs; a processed report alone is
  // not enough, because reports may be dropped. The timeout starts now, not while it waited.
  void let_go() {
    if (!wanted_ || std::exchange(let_go_, true)) return;
    since_ = parts_.loop.now();
    parts_.processes.release(news_.process);
    arm(static_cast<std::int64_t>(timeout_ms_));
  }
  void on_output(ProcessOutput output) override {
    const std::size_t size = output.text ? output.text->size() : 0;
    full_ = full_ || inline_bytes_ + size > inline_bytes_max_;
    if (!wanted_ || full_) return;
    inline_bytes_ += size;
    show(std::move(output));
    if (!news_.output.empty()) tell();
  }
  void on_violation(SandboxViolation violation) override {
    if (!wanted_) return;
    news_.violations.push_back(std::move(violation));
    tell();
  }
  void on_ended(ports::ProcessEnd end) override {
    if (!wanted_) return;
    stop();
    show_rest();
    ReportProcessEnded report{.turn = news_.turn,
                              .call = news_.call,
                              .process = news_.process,
                              .news = std::move(news_),
                              .exit_code = end.exit_code,
                              .signal = end.signal,
                              .failure = std::move(end.failure),
                              .never_ran = end.never_ran,
                              .preview = std::move(end.preview),
                              .outputs = std::move(end.outputs),
                              .lost = std::move(end.lost),
                              .duration_ms = parts_.loop.since(since_)};
    if (timed_out_)
      report.failure =
          Failure{Category::timeout, fmt::format("it ran longer than {} ms", timeout_ms_), true};
    say(std::move(report));
  }

  // Ignores all further events.
  void stop() {
    wanted_ = false;
    if (timer_) parts_.loop.cancel(*timer_);
    timer_.reset();
  }
  bool wanted() const { return wanted_; }
  bool goes_on() const { return background_ && let_go_; }

 private:
  void start_held(ports::ProcessRequest request,
                  Result<std::shared_ptr<const ports::HeldFiles>> held) {
    if (!wanted_) return;
    if (!held) return on_ended({.failure = failure_of(held.error())});
    if (keep_held_) keep_held_(*held);
    start_with(std::move(request), *std::move(held));
  }
  void arm(std::int64_t delay_ms) {
    if (timeout_ms_ == 0) return;
    timer_ = parts_.loop.after(delay_ms, [self = weak_from_this()] {
      if (const auto alive = self.lock()) alive->time_is_up();
    });
  }
  void notice(ReportProcessNotice::What what) {
    if (wanted_) parts_.reports.report(session_, ReportProcessNotice{news_.process, what}, {});
  }

  // The state of one output stream. A possible beginning of a secret is held back until the next
  // piece.
  struct Shown {
    policy::RedactingStream redaction;
    std::uint64_t told = 0;  // offset up to which output was reported
  };

  // Holds reports back until the call is stored.
  template <class Report>
  void say(Report report) {
    if (stored_) return parts_.reports.report(session_, std::move(report), {});
    held_.push_back([this, report = std::move(report)]() mutable {
      parts_.reports.report(session_, std::move(report), {});
    });
  }
  void show(ProcessOutput output) {
    if (!output.text || !output.offset) return news_.output.push_back(std::move(output));
    Shown& shown =
        shown_.try_emplace(output.stream, Shown{policy::RedactingStream(parts_.redactor)})
            .first->second;
    if (shown.redaction.held() == 0) shown.told = *output.offset;
    std::string text;
    shown.redaction.put(*output.text, text);
    const std::uint64_t next = *output.offset + output.text->size() - shown.redaction.held();
    add_pieces(output.stream, shown.told, text, next);
    shown.told = next;
  }
  // If output was omitted, the held text may be part of a secret, so it is not shown.
  void show_rest() {
    if (full_ || inline_bytes_ >= inline_bytes_max_) return;
    for (auto& [stream, shown] : shown_) {
      std::string text;
      const std::uint64_t next = shown.told + shown.redaction.held();
      shown.redaction.finish(text);
      add_pieces(stream, shown.told, text, next);
    }
  }
  // Cuts the text of the stream's bytes from `offset` to `next` into pieces. The text may be longer
  // than those bytes: secrets and invalid UTF-8 were replaced. So only the last piece tells where
  // the bytes end; each of the others counts as one byte. All are stored in one append.
  void add_pieces(OutputStream stream, std::uint64_t offset, std::string_view bytes,
                  std::uint64_t next) {
    const std::string text = valid_utf8(bytes);
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::string_view part = utf8_prefix(rest, kProcessPieceBytes);
      rest.remove_prefix(part.size());
      ProcessOutput piece;
      piece.stream = stream;
      piece.text = std::string(part);
      piece.offset = offset++;
      piece.next_offset = rest.empty() ? next : offset;
      news_.output.push_back(std::move(piece));
    }
  }
  void time_is_up() {
    timer_.reset();
    if (!wanted_) return;
    timed_out_ = true;
    parts_.processes.terminate(news_.process);
  }
  void tell() {
    if (telling_) return;
    telling_ = true;
    parts_.loop.after(kGatherMs, [self = shared_from_this()] { self->flush(); });
  }
  void flush() {
    if (!wanted_) return;
    ReportProcessNews report = news_;
    news_.output.clear();
    news_.violations.clear();
    parts_.reports.report(session_, std::move(report), [self = shared_from_this()] {
      self->telling_ = false;
      if (!self->news_.output.empty() || !self->news_.violations.empty()) self->tell();
    });
  }

  const Parts& parts_;
  SessionId session_;
  Timestamp since_;
  ReportProcessNews news_;
  std::map<OutputStream, Shown> shown_;
  std::size_t inline_bytes_ = 0;
  std::size_t inline_bytes_max_ = kProcessInlineBytes;
  bool full_ = false;  // some output was omitted
  std::uint64_t timeout_ms_ = 0;
  std::optional<ports::ProcessRequest> bound_;  // from start until ready, for an approved call
  std::optional<std::string> executed_;
  std::function<void(std::shared_ptr<const ports::HeldFiles>)> keep_held_;
  std::optional<ports::Loop::TimerId> timer_;
  bool wanted_ = true, let_go_ = false, telling_ = false, timed_out_ = false;
  bool background_ = false;
  bool stored_ = true;
  std::vector<std::move_only_function<void()>> held_;  // reports held back until the call is stored
};

Engine::RunningProcess::RunningProcess(const Parts& parts, const state::Session& view,
                                       const RunProcess& what, Log log, const HeldBy& held_by,
                                       Keep keep)
    : parts_(parts),
      process_(process_of(call_of(view, what.turn, what.call))),
      listener_(std::make_shared<Listener>(parts, view.id, what.turn, what.call, process_)) {
  if (log == Log::will_have_it) listener_->hold_until_stored();
  const state::ToolCall& call = call_of(view, what.turn, what.call);
  const policy::Effective policy =
      effective_policy(parts, view, *state::find_turn(view, what.turn));
  auto request = request_of(view, what.turn, policy, call);
  if (!request) {
    listener_->on_ended({.failure = failure_of(request.error())});
    return;
  }
  const auto command = tools::command_in(call.tool, call.args.text);
  check(command.has_value(), "the request was made from the command");
  const bool background = command->background;
  if (background) listener_->run_in_background();
  if (request->argv.back() != request->command) listener_->run_as(request->argv.back());
  listener_->limit(command->timeout_ms.value_or(background ? 0 : tools::kShellTimeoutMs));
  if (!call.digest) {
    parts.processes.start(*std::move(request), listener_);
    return;
  }
  if (state::find_turn(view, what.turn)->item) {
    const ToolCallId approved = call.approved_as.value_or(call.id);
    if (auto held = held_by(approved)) {
      listener_->start_with(*std::move(request), std::move(held));
      return;
    }
    listener_->keep_held(
        [keep = std::move(keep), approved](auto held) { keep(approved, std::move(held)); });
  }
  listener_->start_bound(*std::move(request), executes(view, policy, call));
}

Result<ports::ProcessRequest> Engine::RunningProcess::request_of(const state::Session& view,
                                                                 const TurnId& turn,
                                                                 const policy::Effective& policy,
                                                                 const state::ToolCall& call) {
  if (policy.unreadable) return std::unexpected(*policy.unreadable);
  ports::ProcessRequest request;
  request.turn = turn;
  request.workspace = view.cwd;
  request.additional_roots = view.additional_roots.value_or(std::vector<std::string>{});
  request.sandbox = policy.sandbox;
  request.network = policy.network;
  request.hidden = policy::denied_paths(policy, view.cwd);
  request.write_roots = policy.write_roots;
  const tools::Tool* own = tools::find(call.tool);
  if (!own || own->runs != tools::Runner::process) return request;
  TRY_ASSIGN(const tools::Command command, own->command(call.args.text, Unknown::refuse));
  request.id = process_of(call);
  request.argv = {std::string(kShellProgram), "-c", text_to_run(call, command.text)};
  request.command = command.text;
  request.cwd = command.cwd;
  const bool asks = call.stage != state::CallStage::started && command.outside_sandbox;
  if (call.outside || asks || call.stage == state::CallStage::stopped)
    request.sandbox = SandboxMode::full_access;
  request.background = command.background;
  request.tty = command.tty;
  add_item(view, turn, request);
  return request;
}

std::vector<std::string> Engine::RunningProcess::executes(const state::Session& view,
                                                          const policy::Effective& policy,
                                                          const state::ToolCall& call) {
  if (tools::runner_of(call.tool) != tools::Runner::process)
    return RunningCall::changes(view, call);
  const auto command = tools::command_in(call.tool, call.args.text);
  if (!command) return {};
  policy::Asked asked;
  asked.tool = tools::judged_as(call.tool);
  asked.text = command->text;
  asked.cwd = command->cwd ? (std::filesystem::path(view.cwd) / *command->cwd).string() : view.cwd;
  asked.workspace = view.cwd;
  asked.roots = view.additional_roots.value_or(std::vector<std::string>{});
  return policy::executed_files(asked, policy.home);
}

std::vector<std::string> Engine::RunningProcess::overwrites(const state::Session& view,
                                                            const state::ToolCall& call) {
  const auto command = tools::command_in(call.tool, call.args.text);
  if (!command) return {};
  return policy::overwritten_files(
      command->text,
      command->cwd ? (std::filesystem::path(view.cwd) / *command->cwd).string() : view.cwd);
}

Engine::RunningProcess::RunningProcess(const Parts& parts, const state::Session& view,
                                       const FindProcess& what)
    : parts_(parts),
      process_(what.process),
      listener_(std::make_shared<Listener>(parts, view.id, what.turn, what.call, process_)) {
  parts.processes.find(process_, listener_);
}

Engine::RunningProcess::RunningProcess(const Parts& parts, const state::Session& view,
                                       const FollowProcess& what)
    : parts_(parts),
      process_(what.process),
      listener_(std::make_shared<Listener>(parts, view.id, what.turn, what.call, process_)) {
  listener_->take_over(what);
  parts.processes.follow(process_, {what.tty, what.out_shown, what.err_shown}, listener_);
  if (what.ending) end_once();
}

void Engine::RunningProcess::stored() { listener_->stored(); }

void Engine::RunningProcess::called_again(const Effect& effect) {
  const auto* run = std::get_if<RunProcess>(&effect.what);
  if (run && run->stored) listener_->let_go();
  const auto* follow = std::get_if<FollowProcess>(&effect.what);
  if (!follow) return;
  listener_->let_go();
  if (follow->ending) end_once();
}

void Engine::RunningProcess::end_once() {
  if (!std::exchange(ending_, true)) parts_.processes.terminate(process_);
}

// The log has stored the end, so the process's files on disk may be removed. Removing them earlier
// could lose the end in a crash.
void Engine::RunningProcess::called_off() {
  if (!listener_->wanted()) parts_.processes.settled(process_);
}

Engine::RunningProcess::~RunningProcess() {
  if (!listener_->wanted()) return;
  listener_->stop();
  if (listener_->goes_on())
    parts_.processes.leave(process_);
  else
    parts_.processes.forget(process_);
}

}  // namespace agentrt::engine
