// control/processes.cc: decides commands and reports about background processes.
//
// Input for a process is stored first and then delivered at most once, by the runtime that follows
// the process. A request to terminate is permanent: if this runtime dies first, the next one
// terminates the process.
#include "control/processes.h"

#include <fmt/format.h>

#include "control/output_facts.h"
#include "schema/commands/processes.h"

namespace agentrt::control {

using namespace schema;

namespace {

ProcessScope scope_of(const Facts& facts, const state::Process& process) {
  return {ToolScope{facts.of(process.turn), process.step, process.call}, process.id};
}

// The open process that the command names, or the error.
std::variant<const state::Process*, Error> named_process(const Session& view,
                                                         const ProcessId& process,
                                                         const Inputs& inputs) {
  if (const state::Process* open = find_process(view, process)) return open;
  if (!inputs.named.process)
    return Error{Code::not_found,
                 fmt::format("this session has no background process {}", process.text()),
                 {}};
  return Error{Code::conflict, fmt::format("process {} has ended", process.text()),
               fmt::format(R"({{"status":"{}"}})", name_of(*inputs.named.process))};
}

Decided give(const Session& view, const state::Process& process, ProcessInput input,
             const Inputs& inputs) {
  Facts facts{view, inputs};
  const ProcessStatus after = input.signal ? ProcessStatus::ending : process.status;
  facts.add(scope_of(facts, process), std::move(input));
  return accept(facts, ProcessReply{view.id, process.id, after, 0});
}

ProcessInput end_of(std::string reason) {
  return {.signal = "SIGTERM", .reason = std::move(reason)};
}

std::string incomplete(const ProcessId& process, const LostOutput& lost) {
  return fmt::format("{} of process {} is incomplete: {} of {}{} bytes were stored: {}",
                     lost.stream, process.text(), lost.kept, lost.exact ? "" : "at least ",
                     lost.size, lost.why);
}

}  // namespace

void add_news(Facts& facts, const ProcessScope& scope, const ReportProcessNews& news) {
  for (const ProcessOutput& output : news.output) facts.add(scope, output);
  for (const SandboxViolation& violation : news.violations) facts.add(scope, violation);
}

void add_end(Facts& facts, const ProcessScope& scope, const ReportProcessEnded& report,
             const Inputs& inputs) {
  std::vector<std::string> refs;
  for (const LostOutput& lost : report.lost)
    facts.add(scope, RuntimeWarning{.code = "output_incomplete",
                                    .message = incomplete(report.process, lost),
                                    .boot_id = {}});
  for (const KeptOutput& output : report.outputs) {
    add_output(facts, scope, output, inputs);
    refs.push_back(output.ref.text());
  }
  const auto signal =
      report.signal ? std::optional(Json{std::to_string(*report.signal)}) : std::nullopt;
  if (!report.failure)
    return facts.add(scope, ProcessCompleted{.exit_code = report.exit_code,
                                             .signal = signal,
                                             .duration_ms = report.duration_ms,
                                             .output_refs = refs});
  const Category category = report.failure->category;
  if (category == Category::timeout || category == Category::cancelled)
    return facts.add(scope, ProcessTerminated{.reason = report.failure->message,
                                              .signal = signal,
                                              .duration_ms = report.duration_ms});
  ProcessFailed failed{.error = report.failure, .duration_ms = report.duration_ms};
  if (report.never_ran) failed.never_ran = true;
  facts.add(scope, std::move(failed));
}

const state::Process* find_process(const Session& view, const ProcessId& process) {
  const auto at = view.processes.find(process);
  return at == view.processes.end() ? nullptr : &at->second;
}

std::optional<Failure> no_room_in_background(const Session& view, const Inputs& inputs) {
  const std::size_t most = inputs.settings->background_processes_max;
  if (view.processes.size() < most) return std::nullopt;
  return Failure{
      Category::unavailable,
      fmt::format("the command was not run: the limit of {} background processes per session is "
                  "reached; wait until one has ended, or ask the person to stop one",
                  most),
      false};
}

std::string background_preview(const ProcessId& process) {
  return fmt::format(
      "[Running in the background as {0}. read_file reads its output so far at output:{0}. Later "
      "commands cannot reach its ports or signal its processes; a person can stop it.]",
      process.text());
}

Decided background_news(const Session& view, const state::Process& process,
                        const ReportProcessNews& report, const Inputs& inputs) {
  Facts facts{view, inputs};
  add_news(facts, scope_of(facts, process), report);
  return accept(facts);
}

Decided background_ended(const Session& view, const state::Process& process,
                         const ReportProcessEnded& report, const Inputs& inputs) {
  Facts facts{view, inputs};
  const ProcessScope scope = scope_of(facts, process);
  add_news(facts, scope, report.news);
  ReportProcessEnded end = report;
  end.duration_ms = inputs.since(process.started_at);
  // Any end after a request to terminate counts as terminated by the runtime.
  if (process.ending && !end.failure)
    end.failure = Failure{Category::cancelled, *process.ending, false};
  add_end(facts, scope, end, inputs);
  return accept(facts);
}

void end_background(Facts& facts, const Session& view, const TurnId& turn,
                    const std::string& reason) {
  for (const auto& [_, process] : view.processes)
    if (process.turn.turn == turn && !process.ending)
      facts.add(scope_of(facts, process), end_of(reason));
}

Decided process_notice(const Session& view, const ReportProcessNotice& report, Inputs inputs) {
  const state::Process* process = find_process(view, report.process);
  if (!process) return Unchanged{};
  Facts facts{view, inputs};
  if (report.what == ReportProcessNotice::What::found)
    facts.add(
        scope_of(facts, *process),
        RuntimeWarning{
            .code = "process_found",
            .message = fmt::format(
                "process {} kept running while the runtime was stopped, and is monitored again",
                process->id.text()),
            .boot_id = inputs.boot});
  else
    facts.add(scope_of(facts, *process),
              RuntimeWarning{.code = "input_refused",
                             .message = fmt::format("process {} accepted no input: it does not "
                                                    "read its input, or too much input is pending",
                                                    process->id.text()),
                             .boot_id = {}});
  return accept(facts);
}

Decided write_process_stdin(const Session& view, const WriteProcessStdin& command, Inputs inputs) {
  if (command.input.size() > kStdinBytesMax)
    return refuse(Code::invalid_params,
                  fmt::format("input: expected at most {} bytes", kStdinBytesMax));
  const bool close = command.close.value_or(false);
  if (command.input.empty() && !close)
    return refuse(Code::invalid_params, "nothing to write: give input or close");
  auto found = named_process(view, command.process_id, inputs);
  if (auto* error = std::get_if<Error>(&found)) return std::move(*error);
  const state::Process& process = *std::get<const state::Process*>(found);
  if (process.input_closed)
    return refuse(Code::conflict,
                  fmt::format("the input of process {} is closed", process.id.text()));
  ProcessInput input{.bytes = command.input.size()};
  // Complete or absent: a truncated secret would not be recognised by redaction.
  if (command.input.size() <= kPreviewBytes) input.preview = command.input;
  if (close) input.closed = true;
  return give(view, process, std::move(input), inputs);
}

Decided resize_process(const Session& view, const ResizeProcess& command, Inputs inputs) {
  for (const std::uint64_t size : {command.rows, command.columns})
    if (size == 0 || size > kTerminalSizeMax)
      return refuse(Code::invalid_params,
                    fmt::format("rows, columns: expected 1 to {}", kTerminalSizeMax));
  auto found = named_process(view, command.process_id, inputs);
  if (auto* error = std::get_if<Error>(&found)) return std::move(*error);
  const state::Process& process = *std::get<const state::Process*>(found);
  if (!process.tty)
    return refuse(
        Code::conflict,
        fmt::format("process {} has no terminal: it was started without tty", process.id.text()));
  return give(view, process, {.rows = command.rows, .columns = command.columns}, inputs);
}

Decided terminate_process(const Session& view, const TerminateProcess& command, Inputs inputs) {
  const state::Process* process = find_process(view, command.process_id);
  if (!process && inputs.named.process)
    return Unchanged{
        to_json(ProcessReply{view.id, command.process_id, *inputs.named.process, view.sequence})};
  if (process && process->ending)
    return Unchanged{to_json(ProcessReply{view.id, process->id, process->status, view.sequence})};
  auto found = named_process(view, command.process_id, inputs);
  if (auto* error = std::get_if<Error>(&found)) return std::move(*error);
  return give(view, *process, end_of(command.reason.value_or("terminate_process")), inputs);
}

}  // namespace agentrt::control
