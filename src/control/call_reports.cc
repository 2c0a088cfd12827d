// control/call_reports.cc: decides reports of calls without a process: announced changes, progress,
// questions of MCP servers, and ends.
#include <fmt/format.h>

#include "base/digest.h"
#include "control/actions.h"
#include "control/flow.h"
#include "control/output_facts.h"
#include "control/tool_calls.h"

namespace agentrt::control {

using namespace schema;

namespace {

ToolScope scope_of(const Facts& facts, const OpenCall& open) {
  return {facts.of(open.thread->active->ids), open.call->step, open.call->id};
}

// All changes of a file in a session belong to the same artifact.
ArtifactId artifact_of(const std::string& path) {
  return ArtifactId{
      fmt::format("{}_{}", ArtifactId::kPrefix, hex(bytes_of(sha256(path))).substr(0, 32))};
}

ArtifactChanged artifact(const FileChange& change) {
  ArtifactChanged out;
  out.change = std::string(name_of(change.kind));
  out.path = change.path;
  out.version_id = change.after;
  out.previous_id = change.before;
  out.diff_ref = change.diff_ref;
  out.lines_added = change.lines_added;
  out.lines_removed = change.lines_removed;
  out.previous_ref = change.previous_ref;
  return out;
}

void fail_call(Facts& facts, const OpenCall& open, const ReportCallEnded& report) {
  const ToolScope scope = scope_of(facts, open);
  facts.add(scope, ToolFailed{.error = *report.failure,
                              .error_ref = {},
                              .duration_ms = facts.ran_ms(*open.call, report.duration_ms),
                              .preview = {},
                              .output_refs = {},
                              .tool_name = open.call->tool});
  facts.add(scope, ItemCompleted{.kind = item_of(open.call->tool),
                                 .status = Status::failed,
                                 .error = report.failure});
}

void end_well(Facts& facts, const OpenCall& open, const ReportCallEnded& report) {
  const ToolScope scope = scope_of(facts, open);
  ToolResult result{.preview = report.text,
                    .is_error = report.is_error,
                    .duration_ms = facts.ran_ms(*open.call, report.duration_ms),
                    .tool_name = open.call->tool};
  ItemCompleted item{.kind = item_of(open.call->tool),
                     .status = report.is_error ? Status::failed : Status::completed,
                     .preview = std::string(utf8_prefix(report.text, kPreviewBytes))};
  if (!report.outputs.empty())
    result.output_ref = item.output_ref = report.outputs.front().ref.text();
  if (report.structured) result.structured_content_ref = report.structured->ref.text();
  if (const auto& change = open.call->change; change && !report.is_error) {
    const ArtifactId id = artifact_of(change->path);
    ArtifactChanged changed = artifact(*change);
    changed.duration_ms = result.duration_ms;
    facts.add(ArtifactScope{scope, id}, std::move(changed));
    result.artifact_refs = std::vector<std::string>{id.text()};
    item.output_ref = change->diff_ref;
  }
  facts.add(scope, std::move(result));
  facts.add(scope, std::move(item));
}

// Withdraws an open question of the call's MCP server.
void close_question(Facts& facts, const OpenCall& open) {
  const Turn& turn = *open.thread->active;
  if (!turn.action || turn.action->call != open.call->id) return;
  withdraw(facts, turn, "cancelled", "the call ended before it was answered");
  facts.decided(turn, "withdrawn");
}

}  // namespace

Decided file_change(const Session& view, const ReportFileChange& report, Inputs inputs) {
  const OpenCall open = find_open_call(view, report.turn, report.call);
  if (!open || open.call->change) return Unchanged{};
  Facts facts{view, inputs};
  if (const auto now = changed_since_approval(view, open, report.binding)) {
    refuse_changed(facts, view, open, *now, report.binding);
    go_on_after_call(facts, view, *open.thread, inputs);
    return accept(facts);
  }
  const ToolScope scope = scope_of(facts, open);
  add_output(facts, scope, report.diff, inputs, KeptFor::session);
  FileChange change = report.change;
  change.diff_ref = report.diff.ref.text();
  if (report.previous) {
    add_output(facts, scope, *report.previous, inputs, KeptFor::session);
    change.previous_ref = report.previous->ref.text();
  }
  ToolProgress progress;
  progress.preview =
      fmt::format("{} (+{} -{})", change.path, change.lines_added, change.lines_removed);
  progress.output_ref = change.diff_ref;
  progress.change = std::move(change);
  facts.add(scope, std::move(progress));
  return accept(facts);
}

Decided tool_progress(const Session& view, const ReportToolProgress& report, Inputs inputs) {
  const OpenCall open = find_open_call(view, report.turn, report.call);
  if (!open) return Unchanged{};
  Facts facts{view, inputs};
  ToolProgress progress;
  progress.preview = std::string(utf8_prefix(report.text, kPreviewBytes));
  facts.add(scope_of(facts, open), std::move(progress));
  return accept(facts);
}

Decided tool_warning(const Session& view, const ReportToolWarning& report, Inputs inputs) {
  const OpenCall open = find_open_call(view, report.turn, report.call);
  if (!open) return Unchanged{};
  Facts facts{view, inputs};
  facts.add(scope_of(facts, open),
            RuntimeWarning{.code = report.code,
                           .message = std::string(utf8_prefix(report.message, kPreviewBytes)),
                           .boot_id = {}});
  return accept(facts);
}

// If the turn already waits for another action, the engine repeats the report later.
Decided tool_asks(const Session& view, const ReportToolAsks& report, Inputs inputs) {
  const OpenCall open = find_open_call(view, report.turn, report.call);
  if (!open || open.thread->active->action) return Unchanged{};
  Facts facts{view, inputs};
  Flow{facts, view, *open.thread, inputs}.ask_for_server(*open.call, report);
  return accept(facts);
}

Decided call_ended(const Session& view, const ReportCallEnded& report, Inputs inputs) {
  const OpenCall open = find_open_call(view, report.turn, report.call);
  if (!open) return Unchanged{};
  Facts facts{view, inputs};
  close_question(facts, open);
  for (const KeptOutput& output : report.outputs)
    add_output(facts, scope_of(facts, open), output, inputs);
  if (report.structured) add_output(facts, scope_of(facts, open), *report.structured, inputs);
  if (report.failure)
    fail_call(facts, open, report);
  else
    end_well(facts, open, report);
  go_on_after_call(facts, view, *open.thread, inputs);
  return accept(facts);
}

}  // namespace agentrt::control
