#include "control/flow.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/digest.h"
#include "control/actions.h"
#include "control/hooks.h"
#include "control/jobs/jobs.h"
#include "control/safe_args.h"
#include "control/subagents/subagents.h"
#include "control/tool_calls.h"
#include "schema/tools.h"
#include "state/read_models.h"
#include "tools/registry.h"

namespace agentrt::control {

using namespace schema;

namespace {

// Consecutive refusals by stop hooks; then the turn ends anyway.
constexpr std::uint64_t kStopRefusalsMax = 3;

// The parts of a session that affect how one of its turns continues.
Session part_of(const Session& view, const Thread& thread, const JobId& job_id) {
  Session part;
  part.id = view.id;
  part.sequence = view.sequence;
  part.cwd = view.cwd;
  part.additional_roots = view.additional_roots;
  part.policy = view.policy;
  part.has_policy = view.has_policy;
  part.subagents = view.subagents;
  part.granted = view.granted;
  part.mode = view.mode;
  part.trust_refused = view.trust_refused;
  part.greeted = view.greeted;
  part.server_tools = view.server_tools;
  if (const state::Job* job = find_job(view, job_id)) {
    state::Job& own_job = part.jobs[job_id];
    own_job.record = job->record;
    own_job.permission = job->permission;
  }
  Thread& own = part.threads[thread.id];
  own.id = thread.id;
  own.status = thread.status;
  own.active = thread.active;
  own.policy = thread.policy;
  own.last = thread.last;
  own.fork = thread.fork;
  own.subagent = thread.subagent;
  own.context = thread.context;
  // The threads above and below it: the first restrict it, and it may wait for the second.
  for (const Thread* above = &own; above && above->subagent;) {
    const state::Subagent* subagent = state::find_subagent(view, *above->subagent);
    above = subagent ? find_thread(view, subagent->parent) : nullptr;
    if (above) part.threads.emplace(above->id, *above);
  }
  return part;
}

// The job whose item the thread runs; empty: none.
JobId job_on(const Thread& thread, const Facts& facts) {
  if (thread.active) return thread.active->ids.job.value_or(JobId{});
  for (const Draft& draft : facts.list())
    if (draft.ids.thread_id == thread.id && !draft.ids.job_id.empty()) return draft.ids.job_id;
  return {};
}

// The beginning of the call, on one line.
std::string beginning_of(const state::ToolCall& call) {
  constexpr std::size_t kShownBytes = 120;
  const std::string text = text_of(call);
  const std::string_view line = std::string_view(text).substr(0, text.find('\n'));
  const std::string_view shown = utf8_prefix(line, kShownBytes);
  return std::string(shown) + (shown.size() < text.size() ? " …" : "");
}

// The sandbox stopped the call, and the mode asks whether to do it again outside.
policy::Judgement stopped_judgement(const state::ToolCall& call) {
  policy::Judgement out;
  out.decision = Decision::ask;
  out.source = DecisionSource::mode;
  out.reason = fmt::format(
      "the sandbox blocked {} attempts of this command; the mode on_failure asks whether to run it "
      "again outside the sandbox",
      call.violations);
  out.chain = {{out.source, out.decision, std::nullopt, out.reason}};
  return out;
}

// Whether the call is destructive only by its letters: every file that it would overwrite is new.
bool only_creates(const Session& view, const state::ToolCall& call,
                  const std::vector<std::string>& absent) {
  if (tools::runner_of(call.tool) != tools::Runner::process) return false;
  const auto files = policy::overwritten_files(text_of(call), cwd_of(view, call));
  return !files.empty() && std::ranges::all_of(files, [&](const std::string& file) {
    return std::ranges::find(absent, file) != absent.end();
  });
}

}  // namespace

Flow::Flow(Facts& facts, const Session& view, const Thread& thread, Inputs& inputs)
    : facts_(facts),
      threads_(view.threads.size()),
      thread_(thread),
      inputs_(inputs),
      ids_(inputs.ids),
      after_(part_of(view, thread, job_on(thread, facts))) {}

const Turn& Flow::turn() {
  for (const Draft& draft : std::span(facts_.list()).subspan(folded_)) {
    state::fold(after_, Fact{after_.sequence + 1, inputs_.now, draft.ids, draft.payload});
    if (std::holds_alternative<PolicyChanged>(draft.payload)) effective_.reset();
    ++folded_;
  }
  const auto& active = after_.threads.at(thread_.id).active;
  check(active.has_value(), "a turn that has ended does not go on");
  return *active;
}

const policy::Effective& Flow::effective() {
  const Turn& now = turn();
  if (!effective_) effective_ = effective_policy(after_, now, inputs_);
  return *effective_;
}

ToolCatalogResolved Flow::catalog(const std::vector<CatalogTool>& of_servers,
                                  const std::vector<MissingServer>& missing) {
  ToolCatalogResolved all = tool_catalog(after_, effective(), of_servers, missing);
  std::erase_if(*all.tools, [&](const CatalogTool& tool) { return !offers(tool.tool_name); });
  return all;
}

// --- the gates of a turn ---

void Flow::go_on() {
  if (turn().hook || turn().action) return;  // already waiting
  if (runs_command(after_, turn())) return run_item_command();
  if (pauses()) return;
  if (turn().work && turn().work->restore) return restores();
  if (turn().work) return static_cast<void>(compacts_first());
  if (hook_waits()) return;
  if (!turn().tools.empty()) return calls();
  if (turn().answered) return finish();
  ask_model();
}

// Starts the next hook about the turn's last event. False: there is none.
bool Flow::hook_waits() {
  const Turn& now = turn();
  if (now.requests == 0)
    return (!after_.greeted &&
            start_hook(HookPoint::session_start, now.start_hooks, "startup", scope())) ||
           start_hook(HookPoint::user_prompt_submit, now.start_hooks, "", scope());
  if (now.ended_call)
    return start_hook(
        now.ended_call->failed ? HookPoint::post_tool_failure : HookPoint::post_tool_use,
        now.after_hooks, now.ended_call->tool,
        ToolScope{scope(), now.ended_call->step, now.ended_call->id});
  const bool has_answer = now.answered || !now.tools.empty();
  return has_answer && start_hook(HookPoint::post_sampling, now.after_hooks, "", scope());
}

// The turn of a job's item that runs a command: it consists of that call, and asks no model.
void Flow::run_item_command() {
  while (!turn().tools.empty())
    if (call_waits()) return;
  const auto& ended = turn().ended_call;
  if (ended && !ended->refused &&
      start_hook(ended->failed ? HookPoint::post_tool_failure : HookPoint::post_tool_use,
                 turn().after_hooks, ended->tool, ToolScope{scope(), ended->step, ended->id}))
    return;
  end_item();
}

void Flow::end_item() {
  const auto& ended = turn().ended_call;
  if (ended && !ended->failed) return facts_.complete(turn(), StopReason::end_turn, turn().usage);
  Failure error = ended && ended->error
                      ? *ended->error
                      : Failure{Category::internal, "the command was not run", true};
  // A command may fail for reasons that pass; the policy of the job says how often it is tried.
  if (error.category == Category::exit_nonzero || error.category == Category::timeout)
    error.retryable = true;
  facts_.fail(turn(), std::move(error));
}

// The calls of a turn that restores files run one after the other. When all have ended, the plan
// asks for more files.
void Flow::restores() {
  while (!turn().tools.empty())
    if (call_waits()) return;
}

void Flow::calls() {
  while (!turn().tools.empty())
    if (call_waits()) return start_beside();
  ask_model();
}

// Starts further calls in parallel to the first, up to one that cannot run in parallel or needs
// approval.
void Flow::start_beside() {
  constexpr std::size_t kSideBySideMax = 8;
  for (std::size_t i = 0; i < std::min(turn().tools.size(), kSideBySideMax); ++i) {
    if (!joins_others(turn().tools[i])) return;
    if (turn().tools[i].stage == state::CallStage::started) continue;
    if (i == 0 || wrong_call(after_, turn().tools[i]) || !offers(turn().tools[i].tool)) return;
    const policy::Judgement judgement = judge(turn().tools[i]);
    if (judgement.decision != Decision::allow) return;
    if (turn().tools[i].step.empty()) begin(turn().tools[i]);
    settle(turn().tools[i], judgement);
  }
}

// A call with hooks runs alone, because hooks run one at a time and about one call.
bool Flow::joins_others(const state::ToolCall& call) const {
  constexpr std::array kAboutCalls = {HookPoint::pre_tool_use, HookPoint::permission_request,
                                      HookPoint::post_tool_use, HookPoint::post_tool_failure};
  return runs_side_by_side(after_, call) && std::ranges::none_of(kAboutCalls, [&](HookPoint point) {
           return next_hook(policy_of(after_, thread_.id).hooks, point, 0, call.tool).has_value();
         });
}

// An earlier boot started the call, and its effect is unknown.
bool Flow::is_lost(const state::ToolCall& call) const {
  return call.boot && *call.boot != inputs_.boot && !may_run_again(after_, call);
}

void Flow::finish() {
  if (turn().stops_refused < kStopRefusalsMax &&
      start_hook(HookPoint::stop, turn().after_hooks, "", scope()))
    return;
  complete();
}

// The answer of an item with an output schema is stored first, and then validated by the engine.
bool Flow::reports_first() {
  const Turn& now = turn();
  const state::Job* job = job_of(after_, now);
  if (!job || now.item->reported || !job->record.runner.output_schema) return false;
  facts_.add(JobScope{after_.id, job->record.ids, now.ids.job_item.value_or(JobItemId{})},
             JobProgress{.counts = {},
                         .item_status = JobItemStatus::reported,
                         .item = {},
                         .reason = {},
                         .judge_again = {},
                         .redo_ended = {}});
  return true;
}

void Flow::complete() {
  if (reports_first()) return;
  facts_.complete(turn(), *turn().answered, turn().usage);
  facts_.start_next(thread_);
}

// The model request or call in progress has ended, and its task is paused: the turn waits until
// resume_task.
bool Flow::pauses() {
  if (!turn().pausing) return false;
  const auto runs = [](const state::ToolCall& call) {
    return call.stage == state::CallStage::started;
  };
  if (std::ranges::none_of(turn().tools, runs)) facts_.hold_paused(turn());
  return true;
}

// Whether the turn's submission, and those of the agents above it, name the tool or none.
bool Flow::offers(const std::string& tool) { return policy::has_tool(effective(), tool); }

void Flow::ask_model() {
  if (compacts_first()) return;
  const Turn& asking = turn();
  if (asking.requests >= inputs_.settings->turn_steps_max)
    return end({Category::unavailable,
                fmt::format("the turn reached the limit of {} model requests (limits.turn_steps); "
                            "continue with another prompt, or raise the limit in the configuration",
                            inputs_.settings->turn_steps_max),
                false});
  facts_.request_model(asking, ids_, asking.provider.value_or(""), asking.model.value_or(""),
                       asking.model_name.value_or(""));
}

void Flow::end(Failure error) {
  close_tools(facts_, turn(), error, inputs_.boot);
  facts_.fail(turn(), std::move(error));
  facts_.start_next(thread_);
}

// --- one call ---

// Why the call is not judged at all: it is malformed, or its turn or host excludes it.
std::optional<Failure> Flow::refusal_of(const state::ToolCall& call) {
  const bool of_runtime = turn().work.has_value();
  if (const tools::Tool* own = tools::find(call.tool);
      own && !own->judged_as.empty() && !of_runtime)
    return Failure{Category::not_found, fmt::format("there is no tool {} for models", call.tool),
                   false};
  if (auto wrong = wrong_call(after_, call)) return wrong;
  if (!offers(call.tool))
    return Failure{Category::denied,
                   fmt::format("this turn may not call {}: its submission names the tools that it "
                               "may call",
                               call.tool),
                   false};
  const auto& forbidden = inputs_.settings->sandboxes_forbidden;
  if (leaves_sandbox(effective(), call) &&
      std::ranges::find(forbidden, SandboxMode::full_access) != forbidden.end())
    return Failure{Category::denied,
                   "the managed configuration does not allow commands outside the sandbox", false};
  return std::nullopt;
}

// Advances the first call until it must wait. True: it waits.
bool Flow::call_waits() {
  if (turn().tools.front().step.empty()) begin(turn().tools.front());
  const state::ToolCall call = turn().tools.front();
  if (call.stage == state::CallStage::started && is_lost(call)) {
    end_call(facts_, scope_of(call), call,
             {Category::lost,
              "the runtime stopped while the call was in progress; its effect is unknown", false});
    return false;
  }
  if (call.stage == state::CallStage::started)
    if (auto result = wait_result(after_, thread_.id, call, false)) {
      end_agent_call(facts_, scope_of(call), call, *std::move(result));
      return false;
    }
  if (call.stage == state::CallStage::started || call.stage == state::CallStage::stopped)
    return true;
  if (call.stage == state::CallStage::approved) {
    // The rules may have changed since the approval: a call that they deny now does not run.
    const policy::Judgement now = judge(call);
    if (now.decision == Decision::deny) return settle(call, now);
    return start_call(call, Json{"\"approved\""});
  }
  if (auto refusal = refusal_of(call)) {
    refuse_call(call, *std::move(refusal));
    return false;
  }
  // The decision about the command of a job was made in the turn of another item.
  if (!call.approved_as &&
      start_hook(HookPoint::pre_tool_use, call.pre_hooks, call.tool, scope_of(call)))
    return true;
  const policy::Judgement judgement = judge(call);
  if (judgement.decision == Decision::deny) return settle(call, judgement);
  if (call.approved_as) {
    PermissionEvaluated decision;
    decision.decision = Decision::allow;
    decision.decision_source = call.as_shown ? DecisionSource::human : DecisionSource::rule;
    decision.decision_reason =
        fmt::format("decided for the whole job with call {}", call.approved_as->text());
    facts_.add(scope_of(call), std::move(decision));
    start_call(call, Json{call.digest ? "\"approved\"" : "\"allowed\""});
    return true;
  }
  // A rule that says ask holds for neither a person nor a session tool: the first asks anyway, and
  // the second has no effect outside the session.
  switch (tools::runner_of(call.tool)) {
    case tools::Runner::person:
      return ask_input(call);
    case tools::Runner::session:
      run_in_session(call);
      return false;
    case tools::Runner::process:
    case tools::Runner::file:
    case tools::Runner::web:
    case tools::Runner::server:
    case tools::Runner::agent:
      break;
  }
  return settle(call, judgement);
}

// The call starts and ends in this decision.
void Flow::run_in_session(const state::ToolCall& call) {
  auto result = tools::find(call.tool)->run({call.args.text, inputs_.now});
  check(result.has_value(), "the call was checked");
  add_started(call, Json{"\"not_needed\""});
  facts_.add(scope_of(call),
             ToolResult{.preview = std::move(result->text), .tool_name = call.tool});
  facts_.add(scope_of(call),
             ItemCompleted{.kind = item_of(call.tool), .text = std::move(result->item_text)});
}

void Flow::begin(const state::ToolCall& call) {
  facts_.add(ToolScope{scope(), ids_.next<StepId>(), call.id},
             ItemStarted{.kind = item_of(call.tool), .tool_name = call.tool});
}

void Flow::add_started(const state::ToolCall& call, const Json& policy,
                       std::optional<bool> outside) {
  Json shown = safe_args(call.args);
  const bool shortened = shown != call.args;
  facts_.add(scope_of(call), ToolStarted{.tool_name = call.tool,
                                         .safe_args = std::move(shown),
                                         .input_ref = {},
                                         .policy = policy,
                                         .outside_sandbox = outside,
                                         .boot_id = inputs_.boot});
  if (shortened) add_full_args(facts_, scope_of(call), call.args);
}

// Returns whether the turn waits for the call.
bool Flow::start_call(const state::ToolCall& call, const Json& policy) {
  add_started(call, policy, leaves_sandbox(effective(), call) ? std::optional(true) : std::nullopt);
  if (auto request = tools::agent_call_in(call.tool, call.args.text))
    return call_agents(call, *request);
  facts_.add(scope(), RunStatus{.status = Status::running,
                                .phase = "tool",
                                .title = "Running " + call.tool,
                                .detail = beginning_of(call)});
  return true;
}

void Flow::refuse_call(const state::ToolCall& call, Failure error) {
  const std::string_view policy =
      error.category == Category::invalid_input || error.category == Category::not_found ||
              (error.category == Category::unavailable && error.retryable)
          ? "\"not_evaluated\""
          : "\"denied\"";
  add_started(call, Json{std::string(policy)});
  end_call(facts_, scope_of(call), call, std::move(error));
}

policy::Judgement Flow::judge(const state::ToolCall& call, const Binding* now) {
  return judge_call(after_, effective(), call, now);
}

// Applies the decision. True: the turn waits.
bool Flow::settle(const state::ToolCall& call, const policy::Judgement& judgement) {
  const PermissionMode mode = effective().mode;
  switch (judgement.decision) {
    case Decision::allow:
    case Decision::sandboxed:
      facts_.add(scope_of(call), evaluated(judgement, mode));
      return start_call(call, Json{"\"allowed\""});
    case Decision::deny:
    case Decision::unavailable: {
      facts_.add(scope_of(call), evaluated(judgement, mode));
      const bool denied = judgement.decision == Decision::deny;
      refuse_call(call,
                  {denied ? Category::denied : Category::unavailable, judgement.reason, false});
      return false;
    }
    case Decision::ask:
      // Without a permission_request hook, the plan starts an inspection of the call, and the user
      // is asked after that. The same happens if a grant may allow the call; then no hook runs.
      if (judgement.pending) return true;
      (void)start_hook(HookPoint::permission_request, call.permission_hooks, call.tool,
                       scope_of(call));
      return true;
  }
  return true;
}

void Flow::inspected(const state::ToolCall& call, const Binding& binding,
                     const std::vector<std::string>& absent) {
  if (turn().pausing) return static_cast<void>(pauses());
  if (call.stage == state::CallStage::stopped)
    return ask_permission(call, stopped_judgement(call), binding);
  policy::Judgement judgement = judge(call, &binding);
  if (judgement.destructive && only_creates(after_, call, absent)) judgement.destructive.reset();
  if (judgement.granted) {
    // What is started must be what was looked at, as if a person had just said yes to it.
    PermissionEvaluated decision = evaluated(judgement, effective().mode);
    decision.digest = approval_digest(after_.id, call, binding, std::nullopt);
    facts_.add(scope_of(call), std::move(decision));
    if (!start_call(call, Json{"\"allowed\""})) go_on();
    return;
  }
  if (judgement.decision != Decision::ask) {
    if (!settle(call, judgement)) go_on();
    return;
  }
  if (start_hook(HookPoint::permission_request, call.permission_hooks, call.tool, scope_of(call)))
    return;
  ask_permission(call, judgement, binding);
}

// --- hooks ---

// Starts the next hook at `point`, from index `from` on, that applies to the tool. False: none.
bool Flow::start_hook(HookPoint point, std::uint64_t from, const std::string& tool,
                      const TurnScope& about) {
  const auto index =
      next_hook(policy_of(after_, thread_.id).hooks, point, from, tools::judged_as(tool));
  if (!index) return false;
  const std::string run = "hook_" + ids_.next<StepId>().text().substr(5);
  facts_.add(HookScope{about, run},
             HookStarted{.point = point,
                         .hook_run_id = run,
                         .command = policy_of(after_, thread_.id).hooks[*index].command,
                         .index = *index,
                         .boot_id = inputs_.boot});
  return true;
}

void Flow::heard(HookPoint point, HookVerdict how, const std::string& reason) {
  const bool at_stop = point == HookPoint::stop;
  if (how == HookVerdict::fine) return at_stop ? finish() : go_on();
  if (how == HookVerdict::ends && at_stop) return complete();
  const Failure stopped{Category::denied, "a hook stopped the turn: " + reason, false};
  if (how == HookVerdict::ends) return end(stopped);
  switch (point) {
    case HookPoint::session_start:
    case HookPoint::user_prompt_submit:
    case HookPoint::post_sampling:
      return end(stopped);
    case HookPoint::pre_tool_use:
    case HookPoint::permission_request:
      return go_on();  // its decision is stored with the call
    case HookPoint::post_tool_use:
    case HookPoint::post_tool_failure:
      return how == HookVerdict::fails ? end(stopped) : go_on();
    case HookPoint::stop:
      return ask_model();
  }
}

}  // namespace agentrt::control
