#include "control/tool_calls.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/actions.h"
#include "control/flow.h"
#include "control/hooks.h"
#include "control/jobs/jobs.h"
#include "control/processes.h"
#include "policy/laxity.h"
#include "schema/tools.h"
#include "tools/registry.h"

namespace agentrt::control {

using namespace schema;

namespace {

// The call of a background process ends in the same commit that releases the process.
void end_background_call(Facts& facts, const Session& view, const Thread& thread,
                         const state::ToolCall& call, const ProcessId& process, Inputs& inputs) {
  const ToolScope scope{facts.of(thread.active->ids), call.step, call.id};
  const std::string preview = background_preview(process);
  facts.add(
      scope,
      ToolResult{.preview = preview, .is_error = false, .duration_ms = 0, .tool_name = call.tool});
  facts.add(
      scope,
      ItemCompleted{.kind = item_of(call.tool), .status = Status::completed, .preview = preview});
  go_on_after_call(facts, view, thread, inputs);
}

// The command failed, and the sandbox stopped something that it tried.
bool stopped_by_sandbox(const policy::Effective& policy, const state::ToolCall& call,
                        const ReportProcessEnded& report) {
  const auto real = std::ranges::count_if(report.news.violations, [](const SandboxViolation& v) {
    return !v.advisory.value_or(false);
  });
  return !call.outside && !report.failure && report.exit_code != 0 &&
         call.violations + static_cast<std::uint64_t>(real) > 0 &&
         policy.sandbox != SandboxMode::full_access;
}

// In some modes a person is asked to run again, outside, what the sandbox stopped.
bool asks_outside(const policy::Effective& policy, const state::ToolCall& call,
                  const ReportProcessEnded& report) {
  return policy::traits_of(policy.mode).retries_outside &&
         stopped_by_sandbox(policy, call, report) && policy.asks_people();
}

constexpr std::string_view kOutsideHint =
    "[The sandbox blocked an operation of this command. If the command needs it, as changes of git "
    "config, remotes, submodules and hooks do, call shell again with outsideSandbox: true and a "
    "justification; a person decides.]";

// What the model reads: with a way to go on, where the sandbox was in it.
std::string preview_with_hint(const policy::Effective& policy, const state::ToolCall& call,
                              const ReportProcessEnded& report) {
  std::string preview = report.preview;
  if (!stopped_by_sandbox(policy, call, report)) return preview;
  if (!preview.empty() && !preview.ends_with('\n')) preview += '\n';
  return preview.append(kOutsideHint);
}

}  // namespace

ItemKind item_of(const std::string& tool) {
  const tools::Tool* own = tools::find(tool);
  return own ? own->item : ItemKind::tool_call;
}

policy::Access access_of(std::string_view tool) {
  return tools::access_of(tool) == tools::Access::read ? policy::Access::read_only
                                                       : policy::Access::changes;
}

namespace {

const state::ServerTool* server_tool(const Session& view, const std::string& name) {
  const auto at = std::ranges::find(view.server_tools, name, &state::ServerTool::name);
  return at == view.server_tools.end() ? nullptr : &*at;
}

std::string names_of_tools() {
  std::string names;
  for (const tools::Tool& tool : tools::all())
    names += (names.empty() ? "" : ", ") + std::string(tool.name);
  return names;
}

}  // namespace

bool runs_side_by_side(const Session& view, const state::ToolCall& call) {
  if (const tools::Tool* own = tools::find(call.tool)) return own->side_by_side;
  const state::ServerTool* of_server = server_tool(view, call.tool);
  return of_server && of_server->read_only;
}

// Built-in tools either only read, or announce a change before they make it.
bool may_run_again(const Session& view, const state::ToolCall& call) {
  return tools::find(call.tool) || runs_side_by_side(view, call);
}

std::optional<Failure> wrong_call(const Session& view, const state::ToolCall& call) {
  if (call.args_omitted)
    return Failure{Category::invalid_input,
                   fmt::format("the arguments of all calls in one answer are larger than {} KiB in "
                               "total; work in smaller steps",
                               kToolArgsBytesMax >> 10),
                   false};
  if (call.wrong) return Failure{Category::invalid_input, *call.wrong, false};
  const tools::Tool* own = tools::find(call.tool);
  if ((own || server_tool(view, call.tool)) && !call.args.text.starts_with('{'))
    return Failure{Category::invalid_input, "the arguments must be one JSON object", false};
  if (own) return tools::wrong_arguments(*own, call.args);
  if (server_tool(view, call.tool)) return std::nullopt;
  if (call.tool.starts_with(kServerToolPrefix))
    return Failure{
        Category::not_found,
        fmt::format("there is no tool {} now: its MCP server is not configured or not available",
                    call.tool),
        false};
  return Failure{
      Category::not_found,
      fmt::format("{}; the built-in tools are: {}",
                  call.tool.empty() ? "the call has no tool name" : "there is no tool " + call.tool,
                  names_of_tools()),
      false};
}

std::string text_of(const state::ToolCall& call) {
  if (auto command = tools::command_in(call.tool, call.args.text)) return std::move(command->text);
  if (auto address = tools::address_in(call.tool, call.args.text)) return *std::move(address);
  const tools::Tool* own = tools::find(call.tool);
  if (own && !own->path.name.empty())
    return tools::path_in(call.tool, call.args.text).value_or(".");
  return call.args.text;
}

std::optional<std::string> folder_of(const state::ToolCall& call) {
  const auto command = tools::command_in(call.tool, call.args.text);
  return command ? command->cwd : std::nullopt;
}

std::string cwd_of(const Session& view, const state::ToolCall& call) {
  const std::optional<std::string> folder = folder_of(call);
  if (!folder) return view.cwd;
  return folder->starts_with('/') ? *folder : view.cwd + "/" + *folder;
}

Json answer_schema(const tools::Question& question) {
  const std::string choices =
      question.choices ? fmt::format(R"(,"enum":{})", to_json(*question.choices)) : std::string();
  return Json{fmt::format(R"({{"type":"object","properties":{{"answer":{{"type":"string"{}}}}},)"
                          R"("required":["answer"],"additionalProperties":false}})",
                          choices)};
}

OpenCall find_open_call(const Session& view, const TurnId& turn, const ToolCallId& call) {
  const Thread* thread = thread_of_active(view, turn);
  if (!thread) return {};
  const auto at = std::ranges::find(thread->active->tools, call, &state::ToolCall::id);
  if (at == thread->active->tools.end() || at->stage != state::CallStage::started) return {};
  return {thread, &*at};
}

void go_on_after_call(Facts& facts, const Session& view, const Thread& thread, Inputs& inputs) {
  const Turn& turn = *thread.active;
  if (thread.status != Status::blocked && turn.prepared && turn.boot == inputs.boot)
    Flow{facts, view, thread, inputs}.go_on();
}

std::optional<std::string> changed_since_approval(const Session& view, const OpenCall& open,
                                                  const std::optional<Binding>& now) {
  if (!open.call->digest) return std::nullopt;
  const Turn& turn = *open.thread->active;
  std::optional<Timestamp> expires_at = open.call->approved_until;
  if (turn.resolved && turn.resolved->call == open.call->id)
    expires_at = turn.resolved->required.expires_at;
  std::string digest;
  if (now) digest = approval_digest(view.id, *open.call, *now, expires_at);
  if (digest == *open.call->digest) return std::nullopt;
  return digest;
}

namespace {

// The files that the user approved: with this call, or with a grant of its text.
std::vector<ExecutedFile> approved_files(const Session& view, const Turn& turn,
                                         const state::ToolCall& call, const std::string& cwd) {
  if (turn.resolved && turn.resolved->call == call.id)
    return turn.resolved->required.executes.value_or(std::vector<ExecutedFile>{});
  if (const state::Job* job = job_of(view, turn); job && job->permission &&
                                                  job->permission->call == call.approved_as &&
                                                  !job->permission->files.empty())
    return job->permission->files;
  const std::string text = text_of(call);
  for (const auto* rules : {&view.granted, &state::policy_of(view, turn.ids.thread).rules})
    for (const PolicyRule& rule : *rules)
      if (rule.executes && rule.cwd == cwd &&
          (rule.rule == policy::text_rule(call.tool, text) ||
           rule.rule == policy::text_rule(call.tool, text, policy::Reach::outside)))
        return *rule.executes;
  return {};
}

// Describes which approved part has changed, if its old state is stored.
std::string what_changed(const Session& view, const Turn& turn, const state::ToolCall& call,
                         const std::optional<Binding>& now) {
  const auto files = now ? approved_files(view, turn, call, now->cwd) : std::vector<ExecutedFile>{};
  for (const ExecutedFile& file : now ? now->files : std::vector<ExecutedFile>{}) {
    const auto then = std::ranges::find(files, file.path, &ExecutedFile::path);
    if (then == files.end() || then->digest == file.digest) continue;
    return fmt::format("{} has changed: {} was approved, it is {} now", file.path,
                       then->digest.value_or("an unreadable version"),
                       file.digest.value_or("unreadable"));
  }
  return "its folder, its environment, the sandbox or a file that it uses has changed";
}

}  // namespace

void refuse_changed(Facts& facts, const Session& view, const OpenCall& open,
                    const std::string& digest_now, const std::optional<Binding>& now) {
  const Turn& turn = *open.thread->active;
  const ToolScope scope{facts.of(turn.ids), open.call->step, open.call->id};
  const std::string reason = fmt::format(
      "binding_mismatch: the call differs from what was approved (approved {}, now {}): {}",
      *open.call->digest, digest_now.empty() ? "unknown" : digest_now,
      what_changed(view, turn, *open.call, now));
  PermissionEvaluated decision;
  decision.decision = Decision::deny;
  decision.decision_source = DecisionSource::host_policy;
  decision.decision_reason = reason;
  decision.chain =
      std::vector<Verdict>{{DecisionSource::host_policy, Decision::deny, std::nullopt, reason}};
  decision.digest = digest_now;
  facts.add(scope, std::move(decision));
  end_call(facts, scope, *open.call, {Category::denied, reason, false});
}

void end_call(Facts& facts, const ToolScope& scope, const state::ToolCall& call, Failure error) {
  facts.add(scope, ToolFailed{.error = error,
                              .error_ref = {},
                              .duration_ms = facts.ran_ms(call),
                              .preview = {},
                              .output_refs = {},
                              .tool_name = call.tool});
  const Status status = error.category == Category::cancelled ? Status::cancelled : Status::failed;
  facts.add(scope, ItemCompleted{.kind = item_of(call.tool), .status = status, .error = error});
}

namespace {

// An announced change may just be happening, so its outcome is unknown.
Failure with_change(Failure error, const state::ToolCall& call) {
  if (call.change)
    error.message += fmt::format("; whether {} was changed is unknown", call.change->path);
  return error;
}

}  // namespace

void close_tools(Facts& facts, const Turn& turn, const Failure& error, const BootId& boot) {
  if (turn.hook) (void)fail_hook(facts, turn, error, 0);
  if (turn.action) withdraw(facts, turn, "cancelled", error.message);
  for (const state::ToolCall& call : turn.tools) {
    if (call.step.empty()) continue;
    const ToolScope scope{facts.of(turn.ids), call.step, call.id};
    if (call.stage == state::CallStage::requested || call.stage == state::CallStage::approved) {
      facts.add(
          scope,
          ItemCompleted{.kind = item_of(call.tool), .status = Status::cancelled, .error = error});
      continue;
    }
    // This boot holds the connection of its own process, so ending the call terminates the process.
    // For a process of another boot, the end is unknown.
    if (call.process && call.process_boot == boot)
      facts.add(ProcessScope{scope, *call.process},
                ProcessTerminated{.reason = error.message, .signal = {}, .duration_ms = {}});
    else if (call.process)
      facts.add(ProcessScope{scope, *call.process},
                ProcessFailed{.error = Failure{Category::lost,
                                               "the runtime stopped while the command ran, and the "
                                               "turn ended before the outcome was known",
                                               false},
                              .duration_ms = {}});
    end_call(facts, scope, call, with_change(error, call));
  }
}

Decided process_ready(const Session& view, const ReportProcessReady& report, Inputs inputs) {
  const OpenCall open = find_open_call(view, report.turn, report.call);
  const auto [thread, call] = open;
  if (!open || call->process) return Unchanged{};
  Facts facts{view, inputs};
  const ToolScope of_call{facts.of(thread->active->ids), call->step, call->id};
  if (const auto now = changed_since_approval(view, open, report.binding)) {
    refuse_changed(facts, view, open, *now, report.binding);
    go_on_after_call(facts, view, *thread, inputs);
    return accept(facts);
  }
  const bool background = report.started.background.value_or(false);
  if (auto full = background ? no_room_in_background(view, inputs) : std::nullopt) {
    end_call(facts, of_call, *call, *std::move(full));
    go_on_after_call(facts, view, *thread, inputs);
    return accept(facts);
  }
  const ProcessScope scope{of_call, report.process};
  facts.add(scope, report.sandbox);
  ProcessStarted started = report.started;
  started.boot_id = inputs.boot;
  facts.add(scope, std::move(started));
  if (background) end_background_call(facts, view, *thread, *call, report.process, inputs);
  return accept(facts);
}

Decided process_news(const Session& view, const ReportProcessNews& report, Inputs inputs) {
  if (const state::Process* open = find_process(view, report.process))
    return background_news(view, *open, report, inputs);
  const auto [thread, call] = find_open_call(view, report.turn, report.call);
  if (!call || call->process != report.process) return Unchanged{};
  Facts facts{view, inputs};
  add_news(
      facts,
      ProcessScope{ToolScope{facts.of(thread->active->ids), call->step, call->id}, report.process},
      report);
  return accept(facts);
}

Decided tool_ended(const Session& view, const ReportProcessEnded& report, Inputs inputs) {
  if (const state::Process* open = find_process(view, report.process))
    return background_ended(view, *open, report, inputs);
  const auto [thread, call] = find_open_call(view, report.turn, report.call);
  if (!call) return Unchanged{};
  const Turn& turn = *thread->active;
  Facts facts{view, inputs};
  const ToolScope scope{facts.of(turn.ids), call->step, call->id};
  if (call->process) {
    const ProcessScope process{scope, *call->process};
    add_news(facts, process, report.news);
    add_end(facts, process, report, inputs);
    // The process was never released, so the call is still to be made.
    if (report.never_ran) return accept(facts);
  }
  const policy::Effective policy = effective_policy(view, turn, inputs);
  if (asks_outside(policy, *call, report)) {
    ToolProgress progress{.preview = report.preview,
                          .output_ref = {},
                          .stopped_by = "sandbox",
                          .exit_code = report.exit_code};
    if (!report.outputs.empty()) progress.output_ref = report.outputs.front().ref.text();
    facts.add(scope, std::move(progress));
    return accept(facts);
  }
  const std::int64_t ran_ms = facts.ran_ms(*call, report.duration_ms);
  if (report.failure) {
    ToolFailed failed{.error = *report.failure,
                      .error_ref = {},
                      .duration_ms = ran_ms,
                      .preview = {},
                      .output_refs = {},
                      .tool_name = call->tool};
    ItemCompleted item{
        .kind = item_of(call->tool), .status = Status::failed, .error = report.failure};
    if (!report.preview.empty()) failed.preview = item.preview = report.preview;
    for (const KeptOutput& output : report.outputs) {
      if (!failed.output_refs) failed.output_refs.emplace();
      failed.output_refs->push_back(output.ref.text());
    }
    facts.add(scope, std::move(failed));
    facts.add(scope, std::move(item));
  } else {
    const bool good = report.exit_code == 0;
    const std::string preview = preview_with_hint(policy, *call, report);
    ToolResult result{
        .preview = preview, .is_error = !good, .duration_ms = ran_ms, .tool_name = call->tool};
    ItemCompleted item{.kind = item_of(call->tool),
                       .status = good ? Status::completed : Status::failed,
                       .preview = preview};
    if (!report.outputs.empty())
      result.output_ref = item.output_ref = report.outputs.front().ref.text();
    if (!good)
      item.error =
          Failure{Category::exit_nonzero,
                  report.signal ? fmt::format("killed by signal {}", *report.signal)
                                : fmt::format("exit code {}", report.exit_code.value_or(-1)),
                  false};
    facts.add(scope, std::move(result));
    facts.add(scope, std::move(item));
  }
  go_on_after_call(facts, view, *thread, inputs);
  return accept(facts);
}

}  // namespace agentrt::control
