#include "control/context/restore.h"

#include <fmt/format.h>

#include "control/flow.h"
#include "control/tool_calls.h"
#include "tools/restore_file.h"

namespace agentrt::control {

using namespace schema;

void begin_restore(Facts& facts, const TurnIds& turn, const RestoreRange& range,
                   std::optional<bool> interactive) {
  facts.add(facts.of(turn), TaskCreated{.visibility = Visibility::internal,
                                        .status = TaskStatus::accepted,
                                        .objective = "Restore files",
                                        .task_kind = "turn"});
  TurnSubmitted submitted{.status = Status::accepted,
                          .input = {{InputKind::text, "Restore files.", std::nullopt}},
                          .source = "system",
                          .work = std::string(state::kRestoreWork),
                          .restore = range};
  submitted.options.interactive = interactive;
  facts.add(facts.of(turn), std::move(submitted));
  facts.start(turn);
}

// Files that follow calls in progress are read again when these have ended.
Decided restore_files(const Session& view, const ReportRestoreFiles& report, Inputs inputs) {
  const Thread* thread = thread_of_active(view, report.turn);
  if (!thread || thread->status == Status::blocked) return Unchanged{};
  const Turn& turn = *thread->active;
  if (!turn.work || !turn.work->restore) return Unchanged{};
  Facts facts{view, inputs};
  if (report.failure) {
    close_tools(facts, turn, *report.failure, inputs.boot);
    facts.fail(turn, *report.failure);
    facts.start_next(*thread);
    return accept(facts);
  }
  const bool next = turn.tools.empty() && report.next == turn.work->restored;
  if (next && report.files.empty()) {
    facts.complete(turn, StopReason::end_turn, turn.usage);
    facts.start_next(*thread);
    return accept(facts);
  }
  if (report.policy) adopt_policy(facts, view, facts.of(thread->id), *report.policy);
  facts.add(facts.of(turn.ids), RunStatus{.status = Status::running,
                                          .phase = std::string(state::kRestoreWork),
                                          .title = "Restoring files"});
  for (const FileRestore& file : next ? report.files : std::vector<FileRestore>{})
    facts.add(
        ToolScope{facts.of(turn.ids), inputs.ids.next<StepId>(), inputs.ids.next<ToolCallId>()},
        ItemStarted{.kind = ItemKind::file_change,
                    .tool_name = std::string(tools::kRestoreFile.name),
                    .args = Json{to_json(tools::restore_args(file))}});
  Flow{facts, view, *thread, inputs}.go_on();
  return accept(facts);
}

}  // namespace agentrt::control
