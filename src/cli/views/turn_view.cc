#include "cli/views/turn_view.h"

#include <fmt/format.h>

namespace agentrt::cli {
namespace {

using namespace schema;

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

std::string tokens_of(const Usage& usage) {
  return fmt::format("{} tokens in, {} out", usage.input_tokens, usage.output_tokens);
}

bool ends_task(std::string_view type) {
  return type == TaskCompleted::kType || type == TaskFailed::kType || type == TaskCancelled::kType;
}

}  // namespace

bool TurnView::concerns(const Envelope& event) const {
  if (event.turn_id == turn_) return true;
  return event.type == SessionCreated::kType ||
         (event.type == ThreadStarted::kType && event.thread_id == thread_);
}

TurnText TurnView::show(const Envelope& event) {
  TurnText out;
  const auto payload = read_payload(event.type, event.payload.text);
  if (!payload) return out;  // written by a runtime with other rules; the log keeps it
  if (event.turn_id != turn_) {
    // Another turn of the thread stopped, and ours waits behind it.
    const auto* updated = std::get_if<ThreadUpdated>(&*payload);
    if (updated != nullptr && event.thread_id == thread_ && updated->status == Status::blocked &&
        end_.ending == Ending::open)
      end_ = {Ending::blocked, "the turn before it is unfinished", updated->reason.value_or(""),
              true};
    return out;
  }
  if (ends_task(event.type)) task_ended_ = true;
  show_payload(out, event, *payload);
  return out;
}

TurnText TurnView::note(std::string_view text, Paint how) {
  TurnText out;
  add_note(out, text, how);
  return out;
}

void TurnView::show_payload(TurnText& out, const Envelope& event, const Payload& payload) {
  std::visit(
      Overloaded{
          [&](const TurnSubmitted& submitted) {
            if (submitted.status == Status::queued)
              add_note(out, fmt::format("queued, position {}", submitted.position.value_or(1)),
                       Paint::dim);
          },
          [&](const QueueChanged& change) { show_queue(out, change); },
          [&](const RunStatus& status) { show_status(out, status); },
          [&](const ContextResolved& context) {
            for (const ContextRef& ref : context.instruction_refs)
              add_note(out, "instructions " + ref.ref, Paint::dim);
          },
          [&](const RoutingNotPossible& routing) { not_possible_ = routing.decision_reason; },
          [&](const ModelRequested& requested) {
            if (!std::exchange(said_model_, true))
              add_note(out, fmt::format("model {} ({})", requested.model_name, requested.provider),
                       Paint::dim);
          },
          [&](const ReasoningDelta& delta) { add_answer(out, delta.text, Paint::dim); },
          [&](const ModelDelta& delta) {
            streamed_.insert(event.model_request_id);
            add_answer(out, delta.text, Paint::plain);
          },
          [&](const ModelCompleted& completed) {
            if (!streamed_.contains(event.model_request_id) && completed.text)
              add_answer(out, *completed.text, Paint::plain);
            if (!completed.tool_calls.empty()) end_line(out);
          },
          [&](const ToolResult& result) {
            add_note(out,
                     fmt::format("{} in {}", result.is_error ? "failed" : "done",
                                 spoken_duration(result.duration_ms)),
                     result.is_error ? Paint::yellow : Paint::dim);
          },
          [&](const ToolFailed& failed) {
            add_note(out, "not done: " + failed.error.message, Paint::yellow);
          },
          [&](const SandboxViolation& violation) {
            add_note(out, fmt::format("stopped by {}: {}", violation.layer, violation.attempted),
                     Paint::yellow);
          },
          [&](const PermissionEvaluated& evaluated) {
            if (evaluated.decision == Decision::unavailable) ++unanswered_;
          },
          [&](const ActionRequired& required) { show_action(event, required); },
          [&](const ActionResolved& resolved) { show_answer(out, resolved); },
          [&](const HookFailed& failed) {
            add_note(out, "hook failed: " + (failed.error ? failed.error->message : ""),
                     Paint::yellow);
          },
          [&](const ModelFailed& failed) { show_failure(out, failed); },
          [&](const RuntimeWarning& warning) { add_note(out, warning.message, Paint::yellow); },
          [&](const RuntimeError& error) { add_note(out, error.message, Paint::red); },
          [&](const TurnCompleted& completed) { show_end(out, event, completed); },
          [&](const TurnFailed& failed) {
            end_line(out);
            const bool cancelled = failed.status == Status::cancelled;
            end_ = {cancelled ? Ending::cancelled : Ending::failed,
                    failed.error ? failed.error->message : failed.reason, "", false};
          },
          [](const auto&) {}},
      payload);
}

void TurnView::show_action(const Envelope& event, const ActionRequired& required) {
  ActionSnapshot action;
  action.action_id = event.action_id;
  action.session_id = event.session_id;
  action.action_type = required.action_type;
  action.prompt = required.prompt;
  action.digest = required.digest;
  action.tool_name = required.tool_name;
  action.input = required.input;
  action.cwd = required.cwd;
  action.reason = required.reason;
  action.destructive = required.destructive;
  action.impact = required.impact;
  action.rollback = required.rollback;
  action.executes_unknown = required.executes_unknown;
  action.files = required.files;
  action.expires_at = required.expires_at;
  action_ = std::move(action);
}

void TurnView::show_answer(TurnText& out, const ActionResolved& resolved) {
  action_.reset();
  end_ = {};
  std::string by = resolved.decision_source;
  if (resolved.reason) by += ": " + *resolved.reason;
  add_note(out, fmt::format("{} ({})", resolved.decision, by), Paint::dim);
}

void TurnView::show_queue(TurnText& out, const QueueChanged& change) {
  if (change.change == QueueChange::promoted)
    add_note(out, fmt::format("moved to position {} of the queue", change.position), Paint::dim);
  if (change.change == QueueChange::started) add_note(out, "its turn has come", Paint::dim);
}

void TurnView::show_status(TurnText& out, const RunStatus& status) {
  if (status.status == Status::streaming || ended(status.status)) return;
  std::string text = status.title;
  if (status.detail) text += ": " + *status.detail;
  if (status.status == Status::blocked || status.status == Status::waiting_permission ||
      status.status == Status::waiting_input) {
    const std::string why =
        !not_possible_.empty() ? not_possible_ : status.detail.value_or(status.title);
    end_line(out);
    end_ = {Ending::blocked, why, status.phase, true};
    return;
  }
  end_ = {};  // it goes on
  if (status.status != Status::retrying) add_note(out, text, Paint::dim);
}

void TurnView::show_failure(TurnText& out, const ModelFailed& failed) {
  if (!failed.retry) return;  // turn.failed tells
  add_note(out,
           fmt::format("the model failed ({}), asking again in {}", failed.error.message,
                       spoken_duration(failed.retry->after_ms)),
           Paint::yellow);
}

void TurnView::show_end(TurnText& out, const Envelope& event, const TurnCompleted& completed) {
  end_ = {Ending::completed, "", "", false};
  end_line(out);
  add_note(out,
           fmt::format("{} · {} · session {}", spoken_duration(completed.duration_ms),
                       tokens_of(completed.usage), event.session_id.text()),
           Paint::dim);
}

void TurnView::end_line(TurnText& out) {
  if (!std::exchange(line_open_, false)) return;
  (std::exchange(reasoning_open_, false) && style_.layout == Layout::apart ? out.notes
                                                                           : out.answer) += '\n';
}

void TurnView::add_note(TurnText& out, std::string_view text, Paint how) {
  // On a shared screen a note does not continue a line of the answer.
  if (style_.layout == Layout::together || reasoning_open_) end_line(out);
  out.notes += paint("· " + one_line(text), how, style_.err_colour) + "\n";
}

// Reasoning is a kind of note: in a pipe it stays out of the answer.
void TurnView::add_answer(TurnText& out, std::string_view text, Paint how) {
  if (text.empty()) return;
  const bool reasoning = how == Paint::dim;
  if (line_open_ && reasoning != reasoning_open_) {
    out.notes_first = !reasoning && style_.layout == Layout::apart;
    end_line(out);
  }
  const bool to_notes = reasoning && style_.layout == Layout::apart;
  const bool on_terminal = to_notes || style_.answer_on_terminal;
  const std::string safe = on_terminal ? printable(text) : std::string(text);
  if (safe.empty()) return;
  (to_notes ? out.notes : out.answer) +=
      paint(safe, how, to_notes ? style_.err_colour : style_.out_colour);
  line_open_ = !safe.ends_with('\n');
  reasoning_open_ = reasoning && line_open_;
}

}  // namespace agentrt::cli
