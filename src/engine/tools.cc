#include "engine/tools.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "policy/redaction.h"
#include "schema/tools.h"

namespace agentrt::engine {

using namespace schema;

namespace {

// One process a call: the same call, made again after nothing ran, is the same process.
ProcessId process_of(const ToolCallId& call) {
  return ProcessId{std::string(ProcessId::kPrefix) + "_" +
                   call.text().substr(call.text().find('_') + 1)};
}

}  // namespace

// Hears the process and reports what it does. News are gathered: at most one report of them is
// under way, and of output only the first kProcessInlineBytes stand in facts.
class Engine::RunningTool::Listener final : public ports::ProcessListener,
                                            public std::enable_shared_from_this<Listener> {
 public:
  Listener(const Parts& parts, SessionId session, TurnId turn, ToolCallId call, ProcessId process)
      : parts_(parts), session_(std::move(session)), since_(parts.loop.now()) {
    news_.turn = std::move(turn);
    news_.call = std::move(call);
    news_.process = std::move(process);
  }

  void limit(std::uint64_t timeout_ms) { timeout_ms_ = timeout_ms; }

  void on_ready(const SandboxApplied& sandbox, const ProcessStarted& started) override {
    if (!wanted_) return;
    parts_.reports.report(
        session_, ReportProcessReady{news_.turn, news_.call, news_.process, sandbox, started}, {});
  }
  // The log says that it runs. That the report was taken would not be enough: one that can never be
  // stored is taken too. Its time begins now: it may have waited for others.
  void let_go() {
    if (!wanted_ || std::exchange(let_go_, true)) return;
    since_ = parts_.loop.now();
    parts_.processes.release(news_.process);
    timer_ = parts_.loop.after(static_cast<std::int64_t>(timeout_ms_), [self = weak_from_this()] {
      if (const auto alive = self.lock()) alive->time_is_up();
    });
  }
  void on_output(ProcessOutput output) override {
    const std::size_t size = output.text ? output.text->size() : 0;
    full_ = full_ || inline_bytes_ + size > kProcessInlineBytes;
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
    ReportToolEnded report{.turn = news_.turn,
                           .call = news_.call,
                           .process = news_.process,
                           .news = std::move(news_),
                           .exit_code = end.exit_code,
                           .signal = end.signal,
                           .failure = std::move(end.failure),
                           .preview = std::move(end.preview),
                           .outputs = std::move(end.outputs),
                           .duration_ms = std::max<std::int64_t>(0, parts_.loop.now() - since_)};
    if (timed_out_)
      report.failure =
          Failure{Category::timeout, fmt::format("it ran longer than {} ms", timeout_ms_), true};
    parts_.reports.report(session_, std::move(report), {});
  }

  // Nothing more is heard.
  void stop() {
    wanted_ = false;
    if (timer_) parts_.loop.cancel(*timer_);
    timer_.reset();
  }
  bool wanted() const { return wanted_; }

 private:
  // What is shown of one stream. A secret may come in two pieces, so what could be the beginning of
  // one waits for the next.
  struct Shown {
    policy::RedactingStream redaction;
    std::uint64_t told = 0;  // the place in the stream up to which it was told
  };

  void show(ProcessOutput output) {
    if (!output.text || !output.offset) return news_.output.push_back(std::move(output));
    Shown& shown =
        shown_.try_emplace(output.stream, Shown{policy::RedactingStream(parts_.redactor)})
            .first->second;
    if (shown.redaction.held() == 0) shown.told = *output.offset;
    std::string text;
    shown.redaction.put(*output.text, text);
    add_pieces(output.stream, shown.told, text);
    shown.told = *output.offset + output.text->size() - shown.redaction.held();
  }
  // Where output was left out, what waits may be half of a secret and stays untold.
  void show_rest() {
    if (full_) return;
    for (auto& [stream, shown] : shown_) {
      std::string text;
      shown.redaction.finish(text);
      add_pieces(stream, shown.told, text);
    }
  }
  void add_pieces(OutputStream stream, std::uint64_t offset, std::string_view text) {
    while (!text.empty()) {
      std::string_view part = utf8_prefix(text, kProcessPieceBytes);
      if (part.empty()) part = text.substr(0, kProcessPieceBytes);  // no character begins in it
      text.remove_prefix(part.size());
      ProcessOutput piece;
      piece.stream = stream;
      piece.text = std::string(part);
      piece.offset = offset++;
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
  bool full_ = false;  // output was left out
  std::uint64_t timeout_ms_ = 0;
  std::optional<ports::Loop::TimerId> timer_;
  bool wanted_ = true, let_go_ = false, telling_ = false, timed_out_ = false;
};

Engine::RunningTool::RunningTool(const Parts& parts, const state::Session& view,
                                 const RunTool& what)
    : parts_(parts),
      process_(process_of(what.call)),
      listener_(std::make_shared<Listener>(parts, view.id, what.turn, what.call, process_)) {
  ShellArgs args;
  if (const auto read = from_json(what.args, args, Unknown::refuse); !read) {
    listener_->on_ended({.failure = Failure{Category::invalid_input, read.error().message, false}});
    return;
  }
  listener_->limit(args.timeout_ms.value_or(kShellTimeoutMs));
  ports::ProcessRequest request;
  request.id = process_;
  request.argv = {"/bin/bash", "-c", args.command};
  request.command = args.command;
  request.workspace = view.cwd;
  request.additional_roots = view.additional_roots.value_or(std::vector<std::string>{});
  request.cwd = args.cwd;
  request.sandbox = what.sandbox;
  parts.processes.start(std::move(request), listener_);
}

Engine::RunningTool::RunningTool(const Parts& parts, const state::Session& view,
                                 const FindProcess& what)
    : parts_(parts),
      process_(what.process),
      listener_(std::make_shared<Listener>(parts, view.id, what.turn, what.call, process_)) {
  parts.processes.find(process_, listener_);
}

void Engine::RunningTool::called_again(const Effect& effect) {
  const auto* run = std::get_if<RunTool>(&effect.what);
  if (run && run->stored) listener_->let_go();
}

Engine::RunningTool::~RunningTool() {
  if (!listener_->wanted()) return;
  listener_->stop();
  parts_.processes.forget(process_);
}

}  // namespace agentrt::engine
