#include "engine/running_call.h"

#include <algorithm>
#include <deque>

#include <fmt/format.h>

#include "engine/running_process.h"
#include "policy/paths.h"
#include "policy/permission.h"
#include "tools/read_file.h"
#include "tools/registry.h"

namespace agentrt::engine {

using namespace schema;

namespace {

constexpr std::size_t kWarningsMax = 8;  // facts per call

std::string path_in(const state::ToolCall& call) {
  return tools::path_in(call.tool, call.args.text).value_or(".");
}

bool reads(std::string_view tool) { return tools::access_of(tool) == tools::Access::read; }

// Judges the file that a path resolves to, and the files that the call finds. The path as it was
// written was judged before the call began.
class PathRules {
 public:
  PathRules(const state::Session& view, policy::Effective policy, const state::ToolCall& call)
      : policy_(std::move(policy)), evidence_{call.said, {}}, approved_(call.digest.has_value()) {
    asked_.tool = tools::judged_as(call.tool);
    asked_.text = path_in(call);
    asked_.cwd = asked_.workspace = view.cwd;
    asked_.access = reads(call.tool) ? policy::Access::read_only : policy::Access::changes;
  }

  std::vector<std::string> denied() const {
    return policy::denied_paths(policy_, asked_.workspace);
  }

  std::optional<Failure> operator()(const std::string& real_path) const {
    if (policy_.unreadable) return Failure{Category::denied, policy_.unreadable->message, false};
    auto why = policy::path_refusal(policy_, asked_.workspace, asked_.tool, asked_.text, real_path);
    if (!why) why = judged_anew(real_path);
    if (!why) return std::nullopt;
    return Failure{Category::denied, *std::move(why), false};
  }

 private:
  // If the path of a single-file call leads through a symlink, judges the call again by the target,
  // because only the link was allowed.
  std::optional<std::string> judged_anew(const std::string& real_path) const {
    const tools::Tool* own = tools::find(asked_.tool);
    const bool one_file = own && own->path.one_file;
    const std::string called = policy::normal_path(asked_.text, asked_.cwd, policy_.home);
    if (!one_file || approved_ || real_path == called ||
        !policy::is_within(real_path, asked_.workspace))
      return std::nullopt;
    policy::Asked asked = asked_;
    asked.real_path = real_path;
    const policy::Judgement now = policy::judge(asked, policy_, evidence_);
    if (now.decision == Decision::allow || now.decision == Decision::sandboxed) return std::nullopt;
    return fmt::format("{} resolves to {}: {} Use that path.", asked_.text, real_path, now.reason);
  }

  policy::Asked asked_;
  policy::Effective policy_;
  policy::Evidence evidence_;
  bool approved_;
};

// Judges the URLs that a call is redirected to. Only a deny counts: the call itself was allowed or
// approved, and it follows redirects within its host only.
std::function<std::optional<Failure>(const std::string&)> address_rules(
    const state::Session& view, policy::Effective policy, const state::ToolCall& call) {
  policy::Asked about{.tool = call.tool,
                      .text = {},
                      .cwd = view.cwd,
                      .workspace = view.cwd,
                      .access = policy::Access::read_only};
  return [about = std::move(about),
          policy = std::move(policy)](const std::string& url) -> std::optional<Failure> {
    policy::Asked asked = about;
    asked.text = url;
    const policy::Judgement now = policy::judge(asked, policy);
    if (now.decision != Decision::deny) return std::nullopt;
    return Failure{Category::denied, now.reason, false};
  };
}

// Whether the model may read what the call is about without asking anybody.
bool may_read(const state::Session& view, const policy::Effective& policy,
              const state::ToolCall& call) {
  policy::Asked asked{.tool = std::string(tools::kReadFile.name),
                      .text = path_in(call),
                      .cwd = view.cwd,
                      .workspace = view.cwd,
                      .access = policy::Access::read_only};
  return policy::judge(asked, policy).decision == Decision::allow;
}

ports::ToolRequest request_of(const state::Session& view, const policy::Effective& policy,
                              const state::ToolCall& call) {
  ports::ToolRequest request;
  request.session = view.id;
  request.call = call.id;
  request.tool = call.tool;
  request.args = call.args;
  request.workspace = view.cwd;
  request.additional_roots = view.additional_roots.value_or(std::vector<std::string>{});
  request.sandbox = policy.sandbox;
  if (tools::rule_form_of(call.tool) == tools::RuleForm::host) {
    request.refused = address_rules(view, policy, call);
    return request;
  }
  const auto rules = std::make_shared<PathRules>(view, policy, call);
  request.hidden = rules->denied();
  request.refused = [rules](const std::string& path) { return (*rules)(path); };
  request.announced = call.change;
  return request;
}

}  // namespace

// Receives the events of a call and reports them. Progress is throttled to the newest text;
// questions are reported one at a time.
class Engine::RunningCall::Listener final : public ports::ToolListener,
                                            public std::enable_shared_from_this<Listener> {
 public:
  Listener(const Parts& parts, const state::Session& view, const CallTool& what)
      : parts_(parts),
        session_(view.id),
        turn_(what.turn),
        call_(what.call),
        since_(parts.loop.now()),
        may_ask_(what.may_ask),
        answers_(what.answer ? what.answer->number : 0) {}

  // For an approved call: the state that it is bound to is inspected again before the change.
  void bind(ports::ProcessRequest request, std::vector<std::string> files) {
    bound_ = Bound{std::move(request), std::move(files)};
  }

  void on_change(FileChange change, KeptOutput diff, std::optional<KeptOutput> previous) override {
    if (!wanted_) return;
    ReportFileChange report{turn_,           call_, std::move(change),
                            std::move(diff), {},    std::move(previous)};
    if (!bound_) return parts_.reports.report(session_, std::move(report), {});
    auto task = std::make_shared<ports::Step>(
        [&parts = parts_, self = shared_from_this(), report = std::move(report)]() mutable {
          if (auto binding = look_at(parts.inspector, self->bound_->request, self->bound_->files))
            report.binding = *std::move(binding);
          parts.loop.post([&parts, self, report = std::move(report)]() mutable {
            if (self->wanted_) parts.reports.report(self->session_, std::move(report), {});
          });
        });
    run_soon(parts_.loop, parts_.worker, std::move(task));
  }
  void on_progress(std::string text) override {
    if (!wanted_ || told_ >= kProgressFactsMax) return;
    progress_ = std::move(text);
    if (!telling_) tell();
  }
  void on_warning(std::string code, std::string message) override {
    if (!wanted_ || warned_ >= kWarningsMax) return;
    ++warned_;
    parts_.reports.report(
        session_, ReportToolWarning{turn_, call_, std::move(code), std::move(message)}, {});
  }
  void on_question(ports::ToolQuestion question) override {
    if (!wanted_) return;
    if (questions_.size() >= kServerQuestionsMax)
      return parts_.tools.answer(call_, question.id, ports::QuestionAnswer::cancel, {});
    questions_.push_back(std::move(question));
    ask_next();
  }
  void on_ended(ports::ToolEnd end) override {
    if (!std::exchange(wanted_, false)) return;
    ReportCallEnded report{.turn = turn_,
                           .call = call_,
                           .failure = std::move(end.failure),
                           .is_error = end.is_error,
                           .text = std::move(end.text),
                           .outputs = std::move(end.outputs),
                           .structured = std::move(end.structured),
                           .duration_ms = parts_.loop.since(since_)};
    parts_.reports.report(session_, std::move(report), {});
  }

  void called_again(const CallTool& what) {
    if (!wanted_) return;
    if (what.stored && !std::exchange(released_, true)) parts_.tools.release(call_);
    if (what.answer && what.answer->number > answers_) give(*what.answer);
    may_ask_ = what.may_ask;
    if (may_ask_ && taken_) asked_ = false;  // another question was asked first: report it again
    ask_next();
  }
  void start_released() { released_ = true; }
  bool wanted() const { return wanted_; }
  void stop() { wanted_ = false; }

 private:
  struct Bound {
    ports::ProcessRequest request;
    std::vector<std::string> files;
  };

  void tell() {
    telling_ = true;
    ++told_;
    parts_.reports.report(session_, ReportToolProgress{turn_, call_, *std::move(progress_)}, {});
    progress_.reset();
    parts_.loop.after(kProgressEveryMs, [self = weak_from_this()] {
      const auto alive = self.lock();
      if (!alive) return;
      alive->telling_ = false;
      if (alive->wanted_ && alive->progress_) alive->tell();
    });
  }
  void ask_next() {
    if (asked_ || !may_ask_ || questions_.empty()) return;
    const ports::ToolQuestion& next = questions_.front();
    asked_ = true;
    taken_ = false;
    parts_.reports.report(
        session_, ReportToolAsks{turn_, call_, next.server, next.prompt, next.schema, next.url},
        [self = shared_from_this()] { self->taken_ = true; });
  }
  void give(const state::ServerAnswer& answer) {
    answers_ = answer.number;
    asked_ = taken_ = false;
    if (questions_.empty()) return;
    const std::string id = std::move(questions_.front().id);
    questions_.pop_front();
    const auto word = answer.decision == "accept"    ? ports::QuestionAnswer::accept
                      : answer.decision == "decline" ? ports::QuestionAnswer::decline
                                                     : ports::QuestionAnswer::cancel;
    parts_.tools.answer(call_, id, word, answer.content);
  }

  const Parts& parts_;
  SessionId session_;
  TurnId turn_;
  ToolCallId call_;
  Timestamp since_;
  std::optional<Bound> bound_;  // set before the call starts, then only read
  std::optional<std::string> progress_;
  std::size_t told_ = 0;
  std::size_t warned_ = 0;
  std::deque<ports::ToolQuestion> questions_;
  bool may_ask_;
  std::uint64_t answers_;  // number of the last answer passed on
  bool wanted_ = true, telling_ = false, released_ = false;
  bool asked_ = false, taken_ = false;  // the first question was reported; its report was processed
};

Engine::RunningCall::RunningCall(const Parts& parts, const state::Session& view,
                                 const CallTool& what)
    : parts_(parts), call_(what.call), listener_(std::make_shared<Listener>(parts, view, what)) {
  const state::ToolCall& call = call_of(view, what.turn, what.call);
  const policy::Effective policy =
      effective_policy(parts, view, *state::find_turn(view, what.turn));
  if (call.digest)
    if (auto request = RunningProcess::request_of(view, what.turn, policy, call))
      listener_->bind(*std::move(request), changes(view, call));
  if (what.stored) listener_->start_released();
  parts.tools.start(request_of(view, policy, call), listener_);
}

void Engine::RunningCall::called_again(const Effect& effect) {
  listener_->called_again(std::get<CallTool>(effect.what));
}

Engine::RunningCall::~RunningCall() {
  if (!listener_->wanted()) return;
  listener_->stop();
  parts_.tools.cancel(call_);
}

std::move_only_function<std::optional<Failure>()> Engine::RunningCall::objection(
    const Parts& parts, const state::Session& view, const policy::Effective& policy,
    const state::ToolCall& call) {
  const tools::Runner runner = tools::runner_of(call.tool);
  if (runner == tools::Runner::process || runner == tools::Runner::agent)
    return [] { return std::nullopt; };
  state::ToolCall approved = call;
  approved.digest.emplace();
  const auto sight = may_read(view, policy, call) ? ports::Sight::file : ports::Sight::path;
  return [&parts, sight, request = request_of(view, policy, approved)] {
    return parts.tools.objection(request, sight);
  };
}

std::vector<std::string> Engine::RunningCall::changes(const state::Session& view,
                                                      const state::ToolCall& call) {
  if (tools::runner_of(call.tool) != tools::Runner::file || reads(call.tool)) return {};
  return {policy::normal_path(path_in(call), view.cwd, "/nonexistent")};
}

}  // namespace agentrt::engine
