#include "control/tools.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/output_facts.h"
#include "schema/tools.h"

namespace agentrt::control {

using namespace schema;

namespace {

ItemKind item_of(const std::string& tool) {
  return tool == ShellArgs::kTool ? ItemKind::command : ItemKind::tool_call;
}

// Why the call cannot be made at all, if so: in words that the model can act on.
std::optional<Failure> wrong_call(const state::ToolCall& call) {
  if (call.tool != ShellArgs::kTool)
    return Failure{Category::not_found,
                   fmt::format("there is no tool called {}; the tools are: shell", call.tool),
                   false};
  if (call.args_omitted)
    return Failure{Category::invalid_input,
                   fmt::format("the arguments of one answer have at most {} KiB together; do it in "
                               "smaller steps",
                               kToolArgsBytesMax >> 10),
                   false};
  ShellArgs args;
  if (const auto read = from_json(call.args.text, args, Unknown::refuse); !read)
    return Failure{Category::invalid_input, read.error().message, false};
  if (args.command.empty())
    return Failure{Category::invalid_input, "command: expected a text to run", false};
  if (args.timeout_ms && (*args.timeout_ms == 0 || *args.timeout_ms > kShellTimeoutMaxMs))
    return Failure{Category::invalid_input,
                   fmt::format("timeoutMs: expected 1 to {}", kShellTimeoutMaxMs), false};
  return std::nullopt;
}

// Until rules are judged, the mode alone decides, and only bypass lets commands run; not even that
// where rules are configured that were meant to stop some of them.
PermissionEvaluated evaluate(PermissionMode mode, const Settings& settings) {
  const bool allowed = mode == PermissionMode::bypass && !settings.rules_unjudged;
  std::string reason = "the mode bypass allows what nothing forbids";
  if (mode != PermissionMode::bypass)
    reason = fmt::format("the mode {} lets no command run without a rule; only bypass does",
                         name_of(mode));
  else if (!allowed)
    reason = "deny or ask rules are configured, which this version cannot judge";
  PermissionEvaluated out;
  out.decision = allowed ? schema::Decision::allow : schema::Decision::deny;
  out.decision_source = DecisionSource::mode;
  out.decision_reason = reason;
  out.rule_refs = std::vector<std::string>{};
  out.chain = std::vector<Verdict>{{DecisionSource::mode, out.decision, std::nullopt, reason}};
  return out;
}

void end_call(Facts& facts, const ToolScope& scope, const std::string& tool, Failure error) {
  facts.add(scope, ToolFailed{.error = error, .error_ref = {}, .duration_ms = 0});
  const Status status = error.category == Category::cancelled ? Status::cancelled : Status::failed;
  facts.add(scope, ItemCompleted{.kind = item_of(tool), .status = status, .error = error});
}

// How the command begins: its first line, as far as a status line has room.
std::string beginning_of(const Json& args) {
  constexpr std::size_t kShownBytes = 120;
  ShellArgs shell;
  if (!from_json(args.text, shell, Unknown::refuse)) return {};
  const std::string_view line = std::string_view(shell.command).substr(0, shell.command.find('\n'));
  const std::string_view shown = utf8_prefix(line, kShownBytes);
  return std::string(shown) + (shown.size() < shell.command.size() ? " …" : "");
}

// True when the call is under way; false when it was refused.
bool start_call(Facts& facts, const Turn& turn, const state::ToolCall& call, FreshIds& ids,
                const Inputs& inputs) {
  const ToolScope scope{facts.of(turn.ids), ids.next<StepId>(), call.id};
  ToolStarted started{.tool_name = call.tool,
                      .safe_args = call.args,
                      .input_ref = {},
                      .policy = Json{"\"allowed\""},
                      .boot_id = inputs.boot};
  facts.add(scope, ItemStarted{.kind = item_of(call.tool)});
  if (auto wrong = wrong_call(call)) {
    started.policy = Json{"\"not_evaluated\""};
    facts.add(scope, std::move(started));
    end_call(facts, scope, call.tool, *std::move(wrong));
    return false;
  }
  PermissionEvaluated decision =
      evaluate(turn.options.mode.value_or(inputs.settings->mode), *inputs.settings);
  const bool allowed = decision.decision == schema::Decision::allow;
  const std::string reason = *decision.decision_reason;
  facts.add(scope, std::move(decision));
  if (!allowed) started.policy = Json{"\"denied\""};
  facts.add(scope, std::move(started));
  if (!allowed) {
    end_call(facts, scope, call.tool, {Category::denied, reason, false});
    return false;
  }
  facts.add(facts.of(turn.ids), RunStatus{.status = Status::running,
                                          .phase = "tool",
                                          .title = "Running " + call.tool,
                                          .detail = beginning_of(call.args)});
  return true;
}

const Thread* thread_of_tool(const Session& view, const TurnId& turn, const ToolCallId& call,
                             const state::ToolCall*& found) {
  const Thread* thread = thread_of_active(view, turn);
  if (!thread) return nullptr;
  const auto at = std::ranges::find(thread->active->tools, call, &state::ToolCall::id);
  if (at == thread->active->tools.end() || at->stage != state::CallStage::started) return nullptr;
  found = &*at;
  return thread;
}

void add_news(Facts& facts, const ProcessScope& scope, const ReportProcessNews& news) {
  for (const ProcessOutput& output : news.output) facts.add(scope, output);
  for (const SandboxViolation& violation : news.violations) facts.add(scope, violation);
}

void end_process(Facts& facts, const ProcessScope& scope, const ReportToolEnded& report) {
  std::vector<std::string> refs;
  for (const KeptOutput& output : report.outputs) refs.push_back(output.ref.text());
  if (!report.failure)
    return facts.add(
        scope, ProcessCompleted{.exit_code = report.exit_code,
                                .signal = report.signal
                                              ? std::optional(Json{std::to_string(*report.signal)})
                                              : std::nullopt,
                                .duration_ms = report.duration_ms,
                                .output_refs = refs});
  const Category category = report.failure->category;
  if (category == Category::timeout || category == Category::cancelled)
    return facts.add(scope, ProcessTerminated{.reason = report.failure->message,
                                              .signal = {},
                                              .duration_ms = report.duration_ms});
  facts.add(scope, ProcessFailed{.error = report.failure, .duration_ms = report.duration_ms});
}

}  // namespace

void go_on_with_tools(Facts& facts, const Thread& thread, std::vector<state::ToolCall> calls,
                      FreshIds& ids, const Inputs& inputs) {
  const Turn& turn = *thread.active;
  for (const state::ToolCall& call : calls)
    if (call.stage == state::CallStage::started || start_call(facts, turn, call, ids, inputs))
      return;
  if (turn.requests >= inputs.settings->turn_steps_max) {
    facts.fail(turn, {Category::unavailable,
                      fmt::format("the turn asked the model {} times, the most it may",
                                  inputs.settings->turn_steps_max),
                      false});
    return facts.start_next(thread);
  }
  facts.request_model(turn, ids, turn.provider.value_or(""), turn.model.value_or(""),
                      turn.model_name.value_or(""));
}

ToolCatalogResolved tool_catalog(PermissionMode mode, const Settings& settings) {
  const bool allowed = evaluate(mode, settings).decision == schema::Decision::allow;
  CatalogTool shell{.tool_name = std::string(ShellArgs::kTool),
                    .description =
                        "Runs a text with bash in the workspace's sandbox and gives "
                        "back what it printed and its exit code.",
                    .input_schema = Json{std::string(kShellSchema)},
                    .capabilities = {"process", "filesystem"},
                    .policy = allowed ? "allowed" : "denied",
                    .runtime_owner = "agentrt",
                    .is_read_only = false,
                    .is_concurrency_safe = false,
                    .is_destructive = true,
                    .interrupt_behavior = "cancel"};
  ToolCatalogResolved catalog;
  catalog.tools.push_back(std::move(shell));
  return catalog;
}

void close_tools(Facts& facts, const Turn& turn, const Failure& error, const BootId& boot) {
  for (const state::ToolCall& call : turn.tools) {
    if (call.stage != state::CallStage::started) continue;
    const ToolScope scope{facts.of(turn.ids), call.step, call.id};
    // Whoever let the process go ends it with this: nobody else holds its connection. Of one that
    // another boot let go, nobody knows yet how it ended.
    if (call.process && call.process_boot == boot)
      facts.add(ProcessScope{scope, *call.process},
                ProcessTerminated{.reason = error.message, .signal = {}, .duration_ms = {}});
    else if (call.process)
      facts.add(ProcessScope{scope, *call.process},
                ProcessFailed{.error = Failure{Category::lost,
                                               "the runtime stopped while the command ran, and its "
                                               "turn was ended before anyone knew how it did",
                                               false},
                              .duration_ms = {}});
    end_call(facts, scope, call.tool, error);
  }
}

Decision process_ready(const Session& view, const ReportProcessReady& report, Inputs inputs) {
  const state::ToolCall* call = nullptr;
  const Thread* thread = thread_of_tool(view, report.turn, report.call, call);
  if (!thread || call->process) return Unchanged{};
  Facts facts{view, inputs};
  const ProcessScope scope{ToolScope{facts.of(thread->active->ids), call->step, call->id},
                           report.process};
  facts.add(scope, report.sandbox);
  ProcessStarted started = report.started;
  started.boot_id = inputs.boot;
  facts.add(scope, std::move(started));
  return accept(facts);
}

Decision process_news(const Session& view, const ReportProcessNews& report, Inputs inputs) {
  const state::ToolCall* call = nullptr;
  const Thread* thread = thread_of_tool(view, report.turn, report.call, call);
  if (!thread || call->process != report.process) return Unchanged{};
  Facts facts{view, inputs};
  add_news(
      facts,
      ProcessScope{ToolScope{facts.of(thread->active->ids), call->step, call->id}, report.process},
      report);
  return accept(facts);
}

Decision tool_ended(const Session& view, const ReportToolEnded& report, Inputs inputs) {
  const state::ToolCall* call = nullptr;
  const Thread* thread = thread_of_tool(view, report.turn, report.call, call);
  if (!thread) return Unchanged{};
  const Turn& turn = *thread->active;
  Facts facts{view, inputs};
  const ToolScope scope{facts.of(turn.ids), call->step, call->id};
  if (call->process) {
    const ProcessScope process{scope, *call->process};
    add_news(facts, process, report.news);
    for (const KeptOutput& output : report.outputs) add_output(facts, process, output, inputs);
    end_process(facts, process, report);
  }
  if (report.failure) {
    facts.add(
        scope,
        ToolFailed{.error = *report.failure, .error_ref = {}, .duration_ms = report.duration_ms});
    facts.add(scope,
              ItemCompleted{
                  .kind = item_of(call->tool), .status = Status::failed, .error = report.failure});
  } else {
    const bool good = report.exit_code == 0;
    ToolResult result{
        .preview = report.preview, .is_error = !good, .duration_ms = report.duration_ms};
    ItemCompleted item{.kind = item_of(call->tool),
                       .status = good ? Status::completed : Status::failed,
                       .preview = report.preview};
    if (!report.outputs.empty())
      result.output_ref = item.output_ref = report.outputs.front().ref.text();
    if (!good)
      item.error =
          Failure{Category::exit_nonzero,
                  report.signal ? fmt::format("ended by signal {}", *report.signal)
                                : fmt::format("exit code {}", report.exit_code.value_or(-1)),
                  false};
    facts.add(scope, std::move(result));
    facts.add(scope, std::move(item));
  }
  std::vector<state::ToolCall> left = turn.tools;
  std::erase_if(left, [&](const state::ToolCall& each) { return each.id == report.call; });
  FreshIds ids = inputs.ids;
  if (thread->status != Status::blocked && turn.prepared && turn.boot == inputs.boot)
    go_on_with_tools(facts, *thread, std::move(left), ids, inputs);
  return accept(facts);
}

}  // namespace agentrt::control
