#include "control/turn_facts.h"

#include <algorithm>

#include "control/jobs/jobs.h"
#include "control/tasks/task_facts.h"
#include "control/tool_calls.h"

#include "state/read_models.h"

namespace agentrt::control {

using namespace schema;

void Facts::start(const TurnIds& turn, std::int64_t queued_ms) {
  const state::Task* task = task_of(inputs_, turn.task);
  add(of(turn), TaskStarted{});
  add(of(turn), TaskAttemptStarted{.attempt_count = task ? task->attempts_made + 1 : 1,
                                   .boot_id = inputs_.boot});
  add(of(turn), TurnStarted{.boot_id = inputs_.boot, .queued_ms = queued_ms});
  add(of(turn), RunStatus{.status = Status::preparing, .phase = "prepare", .title = "Preparing"});
}

void Facts::start_next(const Thread& thread) {
  const auto waiting =
      std::ranges::find_if(thread.queue, [&](const Turn& turn) { return !held(turn); });
  if (waiting == thread.queue.end()) return;
  const Turn& next = *waiting;
  add(of(next.ids), QueueChanged{.change = QueueChange::started,
                                 .turn_id = next.ids.turn,
                                 .position = 0,
                                 .count = thread.queue.size() - 1});
  start(next.ids, inputs_.since(next.submitted_at));
}

// Nothing starts beneath a task whose cancellation was requested. The turn leaves the queue when
// the cancellation reaches its task.
bool Facts::held(const Turn& turn) const {
  const state::Task* task = task_of(inputs_, turn.ids.task);
  for (std::size_t depth = 0; task && depth <= inputs_.settings->task_depth_max; ++depth) {
    if (task->status == TaskStatus::cancelling || task->status == TaskStatus::cancelled ||
        std::ranges::find(cancelling_, task->task_id) != cancelling_.end())
      return true;
    task = task->parent_task_id ? task_of(inputs_, *task->parent_task_id) : nullptr;
  }
  return false;
}

std::int64_t Facts::ran_ms(const Turn& turn) const {
  return turn.started_at ? inputs_.since(*turn.started_at) : 0;
}

std::optional<std::int64_t> Facts::since(const std::optional<Timestamp>& stamp) const {
  return stamp ? std::optional(inputs_.since(*stamp)) : std::nullopt;
}

std::int64_t Facts::ran_ms(const state::ToolCall& call) const {
  return call.started_at ? inputs_.since(*call.started_at) : 0;
}

std::int64_t Facts::ran_ms(const state::ToolCall& call, std::int64_t measured) const {
  return call.boot == inputs_.boot ? measured : ran_ms(call);
}

void Facts::close_items(const Turn& turn, Status status, const Failure& error) {
  const auto close = [&](const std::optional<StepId>& item, ItemKind kind) {
    if (item)
      add(StepScope{of(turn.ids), *item},
          ItemCompleted{.kind = kind, .status = status, .error = error});
  };
  close(turn.reasoning_item, ItemKind::reasoning);
  close(turn.message_item, ItemKind::agent_message);
  if (!turn.call) return;
  for (const state::WrittenCall& written : turn.call->writing)
    add(ToolScope{of(turn.ids), written.step, written.id},
        ItemCompleted{.kind = item_of(written.tool), .status = status, .error = error});
}

void Facts::close_request(const Turn& turn, Category category, const std::string& message) {
  if (!turn.call) return;
  const Failure error{category, message, category == Category::interrupted};
  const state::ModelCall& call = *turn.call;
  add(ModelScope{of(turn.ids), call.id}, ModelFailed{.error = error,
                                                     .provider = call.provider,
                                                     .model = call.model,
                                                     .duration_ms = inputs_.since(call.at)});
  close_items(turn, category == Category::cancelled ? Status::cancelled : Status::failed, error);
}

// A compaction in progress ends with its turn.
void Facts::end_compaction(const Turn& turn, const Failure& error) {
  if (turn.compaction && turn.compaction->started) add(of(turn.ids), CompactionFailed{error});
}

void Facts::end_attempt(const Turn& turn, Status status, const Failure& error) {
  if (turn.started_at)
    add(of(turn.ids),
        TaskAttemptFailed{.status = status, .error = error, .duration_ms = ran_ms(turn)});
}

void Facts::fail_item(const Turn& turn, Status status, const Failure& error,
                      std::optional<Timestamp> retry_at) {
  JobItemFailed failed{.error = error,
                       .attempt_count = turn.item->attempts,
                       .retryable = error.retryable,
                       .retry_at = retry_at,
                       .output_ref = {},
                       .preview = {}};
  if (turn.answer > 0) {
    failed.output_ref = state::log_ref(turn.answer);
  } else if (const auto& ended = turn.ended_call; ended && !ended->refused) {
    failed.output_ref = ended->output_ref;
    if (!ended->preview.empty())
      failed.preview = std::string(utf8_prefix(ended->preview, kItemPreviewBytes));
  }
  add(JobItemScope{of(turn.ids)}, std::move(failed));
  add(of(turn.ids),
      TurnFailed{
          .status = status, .reason = error.message, .error = error, .duration_ms = ran_ms(turn)});
}

void Facts::stop_item(const Turn& turn, const Failure& error) {
  close_request(turn, error.category, error.message);
  close_tools(*this, turn, error, inputs_.boot);
  const bool cancelled = error.category == Category::cancelled;
  fail_item(turn, cancelled ? Status::cancelled : Status::timed_out, error, std::nullopt);
}

void Facts::cancel(const Turn& turn, const std::string& reason) {
  const Failure error{Category::cancelled, reason, false};
  if (turn.item) return stop_item(turn, error);
  close_request(turn, Category::cancelled, reason);
  close_tools(*this, turn, error, inputs_.boot);
  end_compaction(turn, error);
  end_attempt(turn, Status::cancelled, error);
  add(of(turn.ids), TurnFailed{.status = Status::cancelled,
                               .reason = reason,
                               .error = error,
                               .duration_ms = ran_ms(turn)});
  task_cancels(of(turn.ids), reason);
}

void Facts::time_out(const Turn& turn, const std::string& reason, bool whole_task) {
  const Failure error{Category::timeout, reason, true};
  close_request(turn, Category::timeout, reason);
  close_tools(*this, turn, error, inputs_.boot);
  end_compaction(turn, error);
  end_attempt(turn, Status::timed_out, error);
  add(of(turn.ids), TurnFailed{.status = Status::timed_out,
                               .reason = reason,
                               .error = error,
                               .duration_ms = ran_ms(turn)});
  if (whole_task)
    add(TaskScope(of(turn.ids)), TaskTimedOut{.reason = "deadline"});
  else
    task_fails(of(turn.ids), error, TaskStatus::timed_out);
}

void Facts::fail(const Turn& turn, Failure error) {
  if (turn.item)
    return fail_item(turn, Status::failed, error, item_retry(view_, turn, error, inputs_));
  end_compaction(turn, error);
  end_attempt(turn, Status::failed, error);
  add(of(turn.ids), TurnFailed{.status = Status::failed,
                               .reason = error.message,
                               .error = error,
                               .duration_ms = ran_ms(turn)});
  task_fails(of(turn.ids), error);
}

void Facts::complete(const Turn& turn, StopReason reason, const Usage& usage) {
  if (turn.item) {
    JobItemCompleted completed{
        .output_ref = {}, .preview = {}, .attempt_count = turn.item->attempts};
    if (turn.answer > 0) {
      completed.output_ref = state::log_ref(turn.answer);
      if (turn.answer_preview && !turn.answer_preview->empty())
        completed.preview = turn.answer_preview;
    } else if (const auto& ended = turn.ended_call) {
      completed.output_ref = ended->output_ref;
      if (!ended->preview.empty())
        completed.preview = std::string(utf8_prefix(ended->preview, kItemPreviewBytes));
    }
    add(JobItemScope{of(turn.ids)}, std::move(completed));
  } else {
    add(of(turn.ids),
        TaskAttemptCompleted{.summary = {}, .output_refs = {}, .duration_ms = ran_ms(turn)});
  }
  add(of(turn.ids),
      TurnCompleted{.stop_reason = reason, .usage = usage, .duration_ms = ran_ms(turn)});
  if (!turn.item) task_completes(of(turn.ids));
}

void Facts::block(const Turn& turn, const std::string& reason, const std::string& title,
                  const std::string& detail) {
  if (!turn.item) add(of(turn.ids), TaskBlocked{.reason = reason, .resumable = true});
  add(of(turn.ids), RunStatus{.status = Status::blocked,
                              .phase = reason,
                              .title = title,
                              .detail = detail,
                              .resumable = true});
  add(of(turn.ids), ThreadUpdated{.status = Status::blocked, .reason = reason, .resumable = true});
}

void Facts::hold_paused(const Turn& turn) {
  add(of(turn.ids), RunStatus{.status = Status::blocked,
                              .phase = "paused",
                              .title = "Paused",
                              .detail = "the task is paused; resume_task continues it",
                              .resumable = true});
  add(of(turn.ids),
      ThreadUpdated{.status = Status::blocked, .reason = "paused", .resumable = true});
}

void Facts::decided(const Turn& turn, const std::string& reason) {
  if (turn.item)  // the job's task did not wait
    return add(of(turn.ids),
               RunStatus{.status = Status::running, .phase = "item", .title = "Running"});
  if (!turn.pausing) add(of(turn.ids), TaskResumed{.reason = reason});
}

void Facts::resume(const Turn& turn) {
  add(of(turn.ids),
      HistoryReconstructed{
          .turn_id = turn.ids.turn, .as_of_sequence = view_.sequence, .source = "log"});
  if (!turn.item) add(of(turn.ids), TaskResumed{.reason = "resumed"});
  add(of(turn.ids),
      ThreadUpdated{.status = Status::running, .reason = "resumed", .boot_id = inputs_.boot});
  add(of(turn.ids),
      RunStatus{.status = Status::preparing, .phase = "prepare", .title = "Resuming"});
}

void Facts::request_model(const Turn& turn, FreshIds& ids, const std::string& provider,
                          const std::string& model, const std::string& model_name) {
  add(ModelScope{of(turn.ids), ids.next<ModelRequestId>()},
      ModelRequested{.provider = provider,
                     .model = model,
                     .model_name = model_name,
                     .request_ref = state::log_ref(turn.submitted),
                     .number = turn.requests + 1,
                     .boot_id = inputs_.boot});
}

TraceId trace_of(const Inputs& inputs, FreshIds& ids) {
  return inputs.trace ? inputs.trace->trace : ids.next_trace();
}

void name_caller(TurnSubmitted& submitted, const std::optional<TraceContext>& trace) {
  if (!trace) return;
  submitted.parent_span_id = trace->parent;
  submitted.trace_sampled = trace->sampled;
}

TurnIds fresh_turn(const ThreadId& thread, Inputs& inputs) {
  return {.thread = thread,
          .turn = inputs.ids.next<TurnId>(),
          .task = inputs.ids.next<TaskId>(),
          .run = inputs.ids.next<RunId>(),
          .attempt = inputs.ids.next<AttemptId>(),
          .trace = trace_of(inputs, inputs.ids)};
}

const Thread* thread_of_active(const Session& view, const TurnId& turn) {
  for (const auto& [_, thread] : view.threads)
    if (thread.active && thread.active->ids.turn == turn) return &thread;
  return nullptr;
}

const Thread* thread_of_request(const Session& view, const ModelRequestId& request) {
  for (const auto& [_, thread] : view.threads)
    if (thread.active && thread.active->call && thread.active->call->id == request) return &thread;
  return nullptr;
}

}  // namespace agentrt::control
