#include "engine/effects.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/conversation.h"
#include "policy/redaction.h"
#include "policy/routing.h"
#include "schema/arguments.h"
#include "schema/tools.h"

namespace agentrt::engine {

using namespace schema;

namespace {

constexpr std::int64_t kBusyRetryMs = 50;  // until a full worker is tried again

std::optional<TurnId> last_ended(const state::Session& view, const ThreadId& thread) {
  const auto found = view.threads.find(thread);
  if (found == view.threads.end() || !found->second.last) return std::nullopt;
  return found->second.last->ids.turn;
}

// What a turn is asked with, as the view has it.
MaterialQuery query_of(const Engine::Parts& parts, const state::Session& view, const TurnIds& turn,
                       std::optional<std::uint64_t> context_tokens) {
  MaterialQuery query;
  query.session = view.id;
  query.turn = turn;
  query.cwd = view.cwd;
  query.context_tokens = context_tokens;
  query.rules = view.granted;
  query.home = parts.home;
  query.up_to = view.sequence;
  query.last_ended = last_ended(view, turn.thread);
  return query;
}

// What every command of the turn is asked for with.
ports::ProcessRequest commands_of(const state::Session& view, const Prepare& what) {
  ports::ProcessRequest request;
  request.workspace = view.cwd;
  request.additional_roots = view.additional_roots.value_or(std::vector<std::string>{});
  request.sandbox = what.sandbox;
  return request;
}

void append_text(std::string& text, std::uint64_t& bytes, std::string_view more) {
  bytes += more.size();
  const std::size_t room = kTextInlineMax - std::min(text.size(), kTextInlineMax);
  text += utf8_prefix(more, room);
}

std::optional<std::uint64_t> context_of(const std::vector<Candidate>& candidates,
                                        const std::string& name) {
  const auto found = std::ranges::find(candidates, name, &Candidate::name);
  return found == candidates.end() ? std::nullopt : found->context_tokens;
}

}  // namespace

const state::ToolCall& call_of(const state::Session& view, const TurnId& turn,
                               const ToolCallId& call) {
  const state::Turn* found = state::find_turn(view, turn);
  check(found != nullptr, "a plan is of its view");
  const auto at = std::ranges::find(found->tools, call, &state::ToolCall::id);
  check(at != found->tools.end(), "a plan is of its view");
  return *at;
}

std::vector<PolicyRule> rules_of(const state::Session& view) {
  std::vector<PolicyRule> all = view.policy.rules;
  all.insert(all.end(), view.granted.begin(), view.granted.end());
  return all;
}

PermissionMode mode_of(const state::Session& view, const state::Turn& turn) {
  return turn.options.mode.value_or(view.mode.value_or(view.policy.mode));
}

// What runs no command has no environment: it is the same call whoever goes on with it.
Result<Binding> look_at(ports::Inspector& inspector, const ports::ProcessRequest& request,
                        const std::vector<std::string>& files) {
  TRY_ASSIGN(Binding binding, inspector.inspect(request, files));
  if (request.argv.empty()) {
    binding.environment_names.clear();
    binding.environment_digest.clear();
  }
  return binding;
}

void run_soon(ports::Loop& loop, ports::Worker& worker, std::shared_ptr<ports::Step> task) {
  if (!worker.run([task] { (*task)(); }))
    loop.after(kBusyRetryMs, [&loop, &worker, task] { run_soon(loop, worker, task); });
}

// --- preparing ---

// What a turn is prepared with comes from two sides: files and log are read on a worker while the
// servers say which tools they have. Servers are asked for a turn that is stored, since that may
// start them.
struct Engine::Preparing::Shared {
  const Parts& parts;
  const SessionId session;
  const MaterialQuery query;
  const ports::ProcessRequest commands;
  ReportPrepared report;
  Keep keep;
  bool stored = false;
  bool read_again = false;  // it could not be read before it was stored
  int awaited = 2;
  bool wanted = true;
  bool over = false;
};

Engine::Preparing::Preparing(const Parts& parts, const state::Session& view, const Prepare& what,
                             Log log, Keep keep) {
  ReportPrepared report;
  report.turn = what.turn.turn;
  report.context.cwd = view.cwd;
  ports::ModelChoice choice = parts.models.choice(what.model);
  report.candidates = std::move(choice.candidates);
  report.excluded = std::move(choice.excluded);
  report.default_model = std::move(choice.default_name);
  report.fallback = std::move(choice.fallback);
  // The same choice that the decision about this report will make.
  const policy::RoutingAnswer route = policy::route(
      {what.model, report.candidates, report.default_model, report.fallback, report.excluded});
  MaterialQuery query =
      query_of(parts, view, what.turn,
               context_of(report.candidates, policy::outcome_of(route).selected_name.value_or("")));
  shared_ = std::make_shared<Shared>(Shared{.parts = parts,
                                            .session = view.id,
                                            .query = std::move(query),
                                            .commands = commands_of(view, what),
                                            .report = std::move(report),
                                            .keep = std::move(keep)});
  if (log == Log::has_it) stored();
  read(shared_);
}

void Engine::Preparing::stored() {
  shared_->stored = true;
  ask_servers(shared_);
  if (shared_->read_again) read(shared_);
}

void Engine::Preparing::read(const std::shared_ptr<Shared>& shared) {
  const bool ahead = !shared->stored;
  auto task = std::make_shared<ports::Step>([shared, ahead, &parts = shared->parts] {
    ReportPrepared found;
    std::shared_ptr<const TurnFiles> files;
    read_all(parts, shared->query, shared->commands, found, files);
    parts.loop.post([shared, ahead, found = std::move(found), files = std::move(files)]() mutable {
      const bool too_early = ahead && !files;
      shared->read_again = too_early && !shared->stored;
      if (too_early && shared->stored) return read(shared);
      if (too_early) return;
      if (shared->wanted && files) shared->keep(std::move(files));
      shared->report.context = std::move(found.context);
      shared->report.history = std::move(found.history);
      shared->report.policy = std::move(found.policy);
      shared->report.policy_failed = std::move(found.policy_failed);
      arrived(shared);
    });
  });
  run_soon(shared->parts.loop, shared->parts.worker, std::move(task));
}

void Engine::Preparing::ask_servers(const std::shared_ptr<Shared>& shared) {
  shared->parts.tools.list(shared->session, shared->query.cwd,
                           [shared](ports::ToolListing listing) {
                             shared->report.server_tools = std::move(listing.tools);
                             shared->report.missing_servers = std::move(listing.missing);
                             arrived(shared);
                           });
}

// Blocks; on a worker.
void Engine::Preparing::read_all(const Parts& parts, MaterialQuery query,
                                 const ports::ProcessRequest& commands, ReportPrepared& read,
                                 std::shared_ptr<const TurnFiles>& files) {
  read.context.cwd = query.cwd;
  if (auto policy = parts.policies.policy(query.cwd))
    read.policy = *std::move(policy);
  else
    read.policy_failed = Failure{Category::invalid_input, policy.error().message, false};
  query.rules.insert(query.rules.end(), read.policy.rules.begin(), read.policy.rules.end());
  const Material material = gather(parts.workspace, parts.history, query);
  describe(material, read.context);
  if (material.history) read.history = material.history->loaded;
  if (auto environment = parts.processes.environment(commands))
    read.context.environment = *std::move(environment);
  else
    read.context.missing.push_back({.ref = "environment", .reason = environment.error().message});
  if (material.history) files = material.files;  // else those of the input were not read
}

void Engine::Preparing::arrived(const std::shared_ptr<Shared>& shared) {
  if (--shared->awaited > 0 || !shared->wanted) return;
  shared->parts.reports.report(shared->session, std::move(shared->report),
                               [shared] { shared->over = true; });
}

bool Engine::Preparing::over() const { return shared_->over; }

Engine::Preparing::~Preparing() { shared_->wanted = false; }

// --- waiting ---

Engine::Waiting::Waiting(const Parts& parts, const state::Session& view, const AwaitRetry& what)
    : parts_(parts) {
  // The instant is one of the wall clock, which may have been set back since it was named.
  const std::int64_t delay =
      std::clamp<std::int64_t>(what.at - parts.loop.now(), 0, kRetryWaitMaxMs);
  timer_ = parts.loop.after(delay, [&parts, session = view.id, turn = what.turn] {
    parts.reports.report(session, ReportRetryDue{turn}, {});
  });
}

Engine::Waiting::~Waiting() { parts_.loop.cancel(timer_); }

// --- asking ---

// Hears the model and reports what it says. Fragments are gathered: the first goes in the next
// step, later ones while a report is being stored or for kGatherMs, whichever is longer.
class Engine::Asking::Listener final : public ports::ModelListener,
                                       public std::enable_shared_from_this<Listener> {
 public:
  Listener(const Parts& parts, SessionId session, ModelRequestId request)
      : parts_(parts),
        session_(std::move(session)),
        request_(std::move(request)),
        text_redaction_(parts.redactor),
        reasoning_redaction_(parts.redactor) {}

  void on_text(std::string_view text) override {
    std::string told;
    text_redaction_.put(text, told);
    append_text(text_, text_bytes_, told);
    take(told, false);
  }
  void on_reasoning(std::string_view text) override {
    std::string told;
    reasoning_redaction_.put(text, told);
    append_text(reasoning_, reasoning_bytes_, told);
    take(told, true);
  }
  void on_call(std::string name, Json args) override {
    if (!wanted_ || calls_.size() > kToolCallsMax) return;
    // What is not kept takes no room from the calls behind it.
    const bool omitted = args_bytes_ + args.text.size() > kToolArgsBytesMax;
    if (!omitted) args_bytes_ += args.text.size();
    AskedCall call{std::string(utf8_prefix(name, kToolNameBytesMax)),
                   omitted ? Json{"{}"} : std::move(args), omitted};
    const auto offered = offered_.find(call.name);
    if (offered != offered_.end() && !omitted)
      call.wrong = wrong_arguments(offered->second, call.args);
    calls_.push_back(std::move(call));
  }
  void on_raw(std::string request, std::string response) override {
    if (wanted_ && parts_.keeper) raw_ = Raw{std::move(request), std::move(response)};
  }
  void on_completed(StopReason reason, const Usage& usage) override {
    if (!wanted_) return;
    if (calls_.size() > kToolCallsMax)
      return on_failed(
          {.error = {Category::provider,
                     fmt::format("the model asked for more than {} calls at once", kToolCallsMax),
                     false},
           .provider_status = {},
           .ended_by_provider = true,
           .retry_after_ms = {}});
    wanted_ = false;
    tell_rest();
    if (!calls_.empty()) reason = StopReason::tool_use;
    ReportModelCompleted report{.request = request_,
                                .calls = std::move(calls_),
                                .stop_reason = reason,
                                .usage = usage,
                                .pieces = std::move(pieces_),
                                .text = std::move(text_),
                                .text_bytes = text_bytes_,
                                .reasoning = std::move(reasoning_),
                                .reasoning_bytes = reasoning_bytes_,
                                .raw = {}};
    end(std::move(report));
  }
  void on_failed(const ports::ModelFault& fault) override {
    if (!wanted_) return;
    wanted_ = false;
    tell_rest();
    ++parts_.metrics.model_failures;
    end(ReportModelFailed{.request = request_,
                          .pieces = std::move(pieces_),
                          .error = fault.error,
                          .provider_status = fault.provider_status,
                          .ended_by_provider = fault.ended_by_provider,
                          .retry_after_ms = fault.retry_after_ms,
                          .raw = {}});
  }

  // The tools of servers, whose schemas stand nowhere else; the runtime's own know theirs.
  void offer(const std::vector<ports::OfferedTool>& tools) {
    for (const ports::OfferedTool& tool : tools)
      if (tool.name.starts_with(kServerToolPrefix)) offered_[tool.name] = tool.input_schema;
  }

  void forget() { wanted_ = false; }
  bool wanted() const { return wanted_; }

 private:
  struct Raw {
    std::string request, response;
  };

  // What went over the wire is kept before the facts that name it; where it cannot be, they are
  // made without.
  template <class Report>
  void end(Report report) {
    if (!raw_) return parts_.reports.report(session_, std::move(report), {});
    auto task =
        std::make_shared<ports::Step>([&parts = parts_, session = session_, raw = *std::move(raw_),
                                       report = std::move(report)]() mutable {
          auto request = parts.keeper->keep_bytes(raw.request, {});
          auto response = parts.keeper->keep_bytes(raw.response, {});
          if (request && response)
            report.raw = KeptExchange{*std::move(request), *std::move(response)};
          parts.loop.post([&parts, session, report = std::move(report)]() mutable {
            parts.reports.report(session, std::move(report), {});
          });
        });
    run_soon(parts_.loop, parts_.worker, std::move(task));
  }
  void take(std::string_view text, bool reasoning) {
    if (!wanted_ || text.empty()) return;
    if (text_bytes_ + reasoning_bytes_ > kModelOutputBytesMax) {
      parts_.models.cancel(request_);
      return on_failed({.error = {Category::provider,
                                  fmt::format("the model sent more than {} MiB in one answer",
                                              kModelOutputBytesMax >> 20),
                                  false},
                        .provider_status = {},
                        .ended_by_provider = false,
                        .retry_after_ms = {}});
    }
    add_piece(text, reasoning);
    // In a step of its own, so that an answer that comes whole is reported whole.
    if (gathering_ || flush_posted_) return;
    flush_posted_ = true;
    parts_.loop.post([self = shared_from_this()] { self->flush(); });
  }
  void add_piece(std::string_view text, bool reasoning) {
    if (!pieces_.empty() && pieces_.back().reasoning == reasoning)
      pieces_.back().text += text;
    else
      pieces_.push_back({reasoning, std::string(text)});
  }
  // What was held back in case it was the beginning of a secret.
  void tell_rest() {
    std::string reasoning, text;
    reasoning_redaction_.finish(reasoning);
    append_text(reasoning_, reasoning_bytes_, reasoning);
    if (!reasoning.empty()) add_piece(reasoning, true);
    text_redaction_.finish(text);
    append_text(text_, text_bytes_, text);
    if (!text.empty()) add_piece(text, false);
  }
  void flush() {
    flush_posted_ = false;
    if (!wanted_ || gathering_ || pieces_.empty()) return;
    gathering_ = true;
    stored_ = elapsed_ = false;
    auto self = shared_from_this();
    parts_.reports.report(session_, ReportFragments{request_, std::move(pieces_)}, [self] {
      self->stored_ = true;
      self->gathered();
    });
    pieces_.clear();
    parts_.loop.after(kGatherMs, [self] {
      self->elapsed_ = true;
      self->gathered();
    });
  }
  void gathered() {
    if (!stored_ || !elapsed_) return;
    gathering_ = false;
    flush();
  }

  const Parts& parts_;
  SessionId session_;
  ModelRequestId request_;
  bool wanted_ = true;
  // A secret may come in two fragments; facts are made of what these let through.
  policy::RedactingStream text_redaction_, reasoning_redaction_;
  std::string text_, reasoning_;  // at most kTextInlineMax of each
  std::uint64_t text_bytes_ = 0, reasoning_bytes_ = 0;
  std::vector<ReportFragments::Piece> pieces_;
  std::map<std::string, Json> offered_;  // schemas by name
  std::vector<AskedCall> calls_;
  std::size_t args_bytes_ = 0;
  std::optional<Raw> raw_;
  bool flush_posted_ = false, gathering_ = false, stored_ = false, elapsed_ = false;
};

namespace {

// Blocks; on a worker.
Result<ports::ModelRequest> put_together(const Engine::Parts& parts, const Ask& what,
                                         const MaterialQuery& query) {
  Material material = gather(parts.workspace, parts.history, query);
  if (!material.history) return std::unexpected(material.history.error());
  ports::ModelRequest request;
  request.id = what.request;
  request.model_name = what.model_name;
  request.ended_requests = what.ended_by_provider;
  request.cwd = query.cwd;
  put_material(std::move(material), query.cwd, request);
  return request;
}

}  // namespace

// A request may be put together before the log says that it is made; it is made after.
struct Engine::Asking::Shared {
  const Parts& parts;
  const Ask what;
  const MaterialQuery query;
  std::shared_ptr<Listener> listener;
  bool stored = false;
  std::optional<Result<ports::ModelRequest>> ready;
};

Engine::Asking::Asking(const Parts& parts, const state::Session& view, const Ask& what, Log log,
                       std::shared_ptr<const TurnFiles> files) {
  MaterialQuery query =
      query_of(parts, view, what.turn,
               context_of(parts.models.choice(what.model_name).candidates, what.model_name));
  query.rules.insert(query.rules.end(), view.policy.rules.begin(), view.policy.rules.end());
  query.files = std::move(files);
  shared_ = std::make_shared<Shared>(
      Shared{.parts = parts,
             .what = what,
             .query = std::move(query),
             .listener = std::make_shared<Listener>(parts, view.id, what.request),
             .stored = log == Log::has_it});
  gather_all(shared_);
}

void Engine::Asking::gather_all(const std::shared_ptr<Shared>& shared) {
  const bool ahead = !shared->stored;
  auto task = std::make_shared<ports::Step>([shared, ahead, &parts = shared->parts] {
    auto request = put_together(parts, shared->what, shared->query);
    parts.loop.post([shared, ahead, request = std::move(request)]() mutable {
      if (!shared->listener->wanted()) return;
      if (!shared->stored)
        shared->ready = std::move(request);
      else if (!request && ahead)
        gather_all(shared);
      else
        ask(shared, std::move(request));
    });
  });
  run_soon(shared->parts.loop, shared->parts.worker, std::move(task));
}

void Engine::Asking::stored() {
  shared_->stored = true;
  if (!shared_->ready || !shared_->listener->wanted()) return;
  // What could not be read before it was stored can be now.
  if (*shared_->ready) return ask(shared_, *std::move(shared_->ready));
  gather_all(shared_);
}

void Engine::Asking::ask(const std::shared_ptr<Shared>& shared,
                         Result<ports::ModelRequest> request) {
  ++shared->parts.metrics.model_requests;
  if (request) {
    shared->listener->offer(request->tools);
    return shared->parts.models.start(*std::move(request), shared->listener);
  }
  shared->listener->on_failed({.error = {Category::internal, request.error().message, false},
                               .provider_status = {},
                               .ended_by_provider = false,
                               .retry_after_ms = {}});
}

Engine::Asking::~Asking() {
  if (!shared_->listener->wanted()) return;
  shared_->listener->forget();
  shared_->parts.models.cancel(shared_->what.request);
}

}  // namespace agentrt::engine
