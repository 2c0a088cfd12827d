#include "cli/views/turn_view.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cli/tasks/job_view.h"
#include "tools/registry.h"

namespace agentrt::cli {
namespace {

using namespace schema;

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

// The fact that follows the end of a turn: the consequence for its task.
bool follows_end(std::string_view type) {
  return type == TaskCompleted::kType || type == TaskFailed::kType ||
         type == TaskCancelled::kType || type == TaskTimedOut::kType || type == TaskLost::kType ||
         type == TaskRetrying::kType || type == TaskBlocked::kType ||
         type == TaskCancelRequested::kType;
}

// "model main: qwen3-coder (openai_chat)": the name in the configuration and the provider's own.
// The path of a script already ends with the name of its file.
std::string model_line(const ModelRequested& requested) {
  const std::string& name = requested.model_name;
  const bool same = name.ends_with(requested.model);
  return fmt::format("model {}{}{} ({})", name, same ? "" : ": ", same ? "" : requested.model,
                     requested.provider);
}

bool waits(Status status) {
  return status == Status::blocked || status == Status::waiting_permission ||
         status == Status::waiting_input;
}

}  // namespace

std::string short_model_name(const std::string& name) {
  if (!name.starts_with("script:")) return name;
  return "script:" + name.substr(name.find_last_of("/:") + 1);
}

bool TurnView::concerns(const Envelope& event) const {
  if (event.turn_id == turn_) return true;
  return event.type == SessionCreated::kType ||
         (event.type == ThreadStarted::kType && event.thread_id == thread_);
}

TurnText TurnView::show(const Envelope& event) {
  const auto payload = read_payload(event.type, event.payload.text);
  if (!payload) return {};  // written by an incompatible runtime; the log keeps it
  if (const auto* changed = std::get_if<PolicyChanged>(&*payload); changed && changed->policy)
    not_trusted_ = changed->policy->ignored;
  if (const std::string news = event.job_id.empty() ? "" : job_news(event.job_id, *payload);
      !news.empty())
    return note(news);
  if (children_.show(event, *payload, page_)) return page_.take();
  if (event.turn_id != turn_) {
    // Another turn of the thread is blocked, and this turn is queued behind it.
    const auto* updated = std::get_if<ThreadUpdated>(&*payload);
    if (updated != nullptr && event.thread_id == thread_ && updated->status == Status::blocked &&
        end_.ending == Ending::open)
      end_ = {Ending::blocked, "the previous turn is unfinished", updated->reason.value_or(""),
              true};
    return {};
  }
  if (follows_end(event.type) && turn_ended_) task_ended_ = true;
  show_payload(event, *payload);
  return page_.take();
}

const ActionSnapshot* TurnView::action() const { return action_ ? &*action_ : children_.action(); }

TurnText TurnView::note(std::string_view text, Paint how) {
  page_.note(text, how);
  return page_.take();
}

std::optional<Doing> TurnView::doing() const {
  if (end_.ending != Ending::open || action_) return std::nullopt;
  const Call* first = nullptr;
  std::size_t running = 0;
  for (const auto& [_, call] : calls_) {
    if (!call.running) continue;
    ++running;
    if (first == nullptr || call.started < first->started) first = &call;
  }
  if (first == nullptr) return doing_.what.empty() ? std::nullopt : std::optional(doing_);
  std::string what = call_title(*first);
  if (running > 1) what += fmt::format(" and {} more", running - 1);
  return Doing{std::move(what), first->started};
}

void TurnView::show_payload(const Envelope& event, const Payload& payload) {
  std::visit(
      Overloaded{
          [&](const TurnSubmitted& submitted) {
            if (submitted.status != Status::queued) return;
            page_.note(fmt::format("queued, position {}", submitted.position.value_or(1)),
                       Paint::dim);
            doing_ = {"waiting in the queue", event.timestamp};
          },
          [&](const QueueChanged& change) { show_queue(change); },
          [&](const RunStatus& status) { show_status(event, status); },
          [&](const ContextResolved& context) { show_context(context); },
          [&](const ToolCatalogResolved& catalog) { show_catalog(catalog); },
          [&](const RoutingNotPossible& routing) { not_possible_ = routing.decision_reason; },
          [&](const RoutingFallbackApplied& applied) {
            page_.note(fmt::format("{}; continuing with {}", applied.decision_reason,
                                   applied.selected_name.value_or("another model")),
                       Paint::yellow);
          },
          [&](const CompactionCompleted& compacted) { show_compacted(compacted); },
          [&](const CompactionFailed& failed) { show_not_compacted(failed); },
          [&](const ModelRequested& requested) { show_request(event, requested); },
          [&](const ReasoningDelta& delta) {
            if (doing_.what != "thinking") doing_ = {"thinking", event.timestamp};
            page_.reasoning(delta.text);
          },
          [&](const ModelDelta& delta) {
            streamed_.insert(event.model_request_id);
            if (doing_.what != "answering") doing_ = {"answering", event.timestamp};
            page_.answer(delta.text);
          },
          [&](const ItemStarted& started) { start_writing(event, started); },
          [&](const ItemUpdated& updated) { show_writing(event, updated); },
          [&](const ModelCompleted& completed) { show_message(event, completed); },
          [&](const ToolStarted& started) { start_call(event, started); },
          [&](const SandboxApplied& applied) { note_sandbox(event, applied); },
          [&](const ToolProgress& progress) {
            if (progress.change) calls_[event.tool_call_id].change = progress.change;
          },
          [&](const ProcessCompleted& completed) {
            calls_[event.tool_call_id].exit_code = completed.exit_code;
          },
          [&](const ToolResult& result) { show_result(event, result); },
          [&](const ToolFailed& failed) { show_refusal(event, failed); },
          [&](const SandboxViolation& violation) {
            page_.note(
                fmt::format("{}: {}",
                            violation.advisory.value_or(false) ? "noticed" : "the sandbox blocked",
                            violation.attempted),
                Paint::yellow);
          },
          [&](const PermissionEvaluated& evaluated) {
            if (evaluated.decision == Decision::unavailable) ++unanswered_;
          },
          [&](const ActionRequired& required) { show_action(event, required); },
          [&](const ActionResolved& resolved) { show_answer(resolved); },
          [&](const HookFailed& failed) {
            page_.note("hook failed: " + (failed.error ? failed.error->message : ""),
                       Paint::yellow);
          },
          [&](const ModelFailed& failed) { show_failure(event, failed); },
          [&](const RuntimeWarning& warning) { page_.note(warning.message, Paint::yellow); },
          [&](const RuntimeError& error) { page_.note(error.message, Paint::red); },
          [&](const TurnCompleted& completed) { show_end(event, completed); },
          [&](const TurnFailed& failed) { show_failed(failed); },
          [](const auto&) {}},
      payload);
  if (const auto call = calls_.find(event.tool_call_id); call != calls_.end())
    call->second.execution.take(payload);
}

void TurnView::show_context(const ContextResolved& context) {
  for (const ContextRef& ref : context.instruction_refs)
    if (ref.ref.starts_with("file:")) page_.note("instructions " + ref.ref, Paint::dim);
  for (const ContextRef& ref : context.missing)
    page_.note(fmt::format("not used: {}: {}", ref.ref, ref.reason.value_or("missing")),
               Paint::yellow);
}

void TurnView::show_catalog(const ToolCatalogResolved& catalog) {
  for (const MissingServer& server : catalog.missing.value_or(std::vector<MissingServer>{}))
    page_.note(fmt::format("MCP server {}: {}{}{}", server.name, server.reason,
                           server.remedy ? "; " : "", server.remedy.value_or("")),
               Paint::yellow);
}

void TurnView::show_request(const Envelope& event, const ModelRequested& requested) {
  if (requested.purpose) {
    doing_ = {"compacting the conversation", event.timestamp};
    return;
  }
  doing_ = {"waiting for " + short_model_name(requested.model_name), event.timestamp};
  provider_status_.reset();
  for (const std::string& left_out : std::exchange(not_trusted_, {}))
    page_.note(left_out + "; agentrt trust accepts its current version", Paint::yellow);
  if (model_.empty() && setting_ == Setting::single) page_.note(model_line(requested), Paint::dim);
  model_ = requested.model_name;
}

void TurnView::show_not_compacted(const CompactionFailed& failed) {
  page_.note("the conversation was not compacted: " +
                 (failed.error ? failed.error->message : "no reason is known"),
             Paint::yellow);
}

void TurnView::show_compacted(const CompactionCompleted& compacted) {
  page_.note(fmt::format("compacted the conversation: {} tokens instead of {}",
                         compacted.tokens_after.value_or(0), compacted.tokens_before.value_or(0)),
             Paint::dim);
}

void TurnView::show_message(const Envelope& event, const ModelCompleted& completed) {
  if (completed.purpose) return;
  if (!streamed_.contains(event.model_request_id) && completed.text) page_.answer(*completed.text);
  page_.end_message();
  doing_ = {"preparing", event.timestamp};
  calls_.clear();
  writing_.clear();
  for (const RequestedCall& call : completed.tool_calls)
    calls_[call.tool_call_id] = {.tool = call.name,
                                 .args = call.args.text,
                                 .exit_code = {},
                                 .change = {},
                                 .started = event.timestamp};
}

// The items of calls that are complete start later, when the calls do.
void TurnView::start_writing(const Envelope& event, const ItemStarted& started) {
  if (!started.tool_name || event.tool_call_id.empty() || calls_.contains(event.tool_call_id))
    return;
  page_.end_line();
  writing_[event.tool_call_id] = *started.tool_name;
  doing_ = {written_title(*started.tool_name, "", 0), event.timestamp};
}

void TurnView::show_writing(const Envelope& event, const ItemUpdated& updated) {
  const auto tool = writing_.find(event.tool_call_id);
  if (tool == writing_.end()) return;
  doing_.what = written_title(tool->second, updated.preview.value_or(""), updated.text_bytes);
}

void TurnView::start_call(const Envelope& event, const ToolStarted& started) {
  Call& call = calls_[event.tool_call_id];
  call.tool = started.tool_name;
  if (started.safe_args) call.args = started.safe_args->text;
  call.started = event.timestamp;
  call.running = true;
}

void TurnView::note_sandbox(const Envelope& event, const SandboxApplied& applied) {
  if (applied.mode != SandboxMode::full_access) return;
  const bool network = applied.network && applied.network->text.contains("host");
  calls_[event.tool_call_id].outside =
      fmt::format("{}{} network", user_ ? "as " + *user_ + ", " : "",
                  network ? "with the machine's" : "without");
}

void TurnView::show_result(const Envelope& event, const ToolResult& result) {
  Call& call = calls_[event.tool_call_id];
  const Paper paper = page_.paper();
  const tools::Tool* own = tools::find(call.tool);
  const bool plan = own && own->item == ItemKind::todo && !result.is_error;
  if (plan) plan_ = call.args;
  call.running = false;
  if (plan && setting_ == Setting::conversation) return;  // shown in place
  end_call(call);
  page_.lines(call_line(call, result.is_error ? CallEnd::failed : CallEnd::done, result.duration_ms,
                        {}, paper));
  if (result.is_error && result.preview) page_.lines(output_tail(*result.preview, paper));
  if (plan) print_plan();
  if (!result.is_error && call.change) diff_ref_ = call.change->diff_ref;
}

void TurnView::end_call(Call& call) {
  call.running = false;
  ++tools_;
  if (setting_ == Setting::conversation) call.number = last_call();
}

const Call* TurnView::call(const ToolCallId& id) const {
  const auto found = calls_.find(id);
  return found == calls_.end() ? nullptr : &found->second;
}

std::string TurnView::plan() const {
  return plan_.empty() ? std::string() : plan_text(plan_, page_.paper());
}

void TurnView::print_plan() {
  if (!plan_.empty()) page_.lines(plan_text(std::exchange(plan_, {}), page_.paper()));
}

void TurnView::show_refusal(const Envelope& event, const ToolFailed& failed) {
  Call& call = calls_[event.tool_call_id];
  end_call(call);
  page_.lines(call_line(call, call.execution.failed_end(), failed.duration_ms, failed.error.message,
                        page_.paper()));
  if (failed.preview) page_.lines(output_tail(*failed.preview, page_.paper()));
}

TurnText TurnView::show_diff(std::string_view diff) {
  page_.lines(diff_text(diff, page_.paper()));
  return page_.take();
}

void TurnView::show_action(const Envelope& event, const ActionRequired& required) {
  page_.drop_message();
  if (required.user) user_ = required.user;
  action_ = action_of(event, required);
}

void TurnView::show_answer(const ActionResolved& resolved) {
  action_.reset();
  end_ = {};
  std::string by = resolved.decision_source;
  if (resolved.reason) by += ": " + *resolved.reason;
  page_.note(fmt::format("{} ({})", resolved.decision, by), Paint::dim);
}

void TurnView::show_queue(const QueueChanged& change) {
  if (change.change == QueueChange::promoted)
    page_.note(fmt::format("moved to position {} of the queue", change.position), Paint::dim);
  if (change.change == QueueChange::started) page_.note("started from the queue", Paint::dim);
}

void TurnView::show_status(const Envelope& event, const RunStatus& status) {
  if (status.status == Status::streaming || ended(status.status)) return;
  if (waits(status.status)) {
    const std::string why =
        !not_possible_.empty() ? not_possible_ : status.detail.value_or(status.title);
    page_.drop_message();
    for (auto& [_, call] : calls_) call.running = false;
    end_ = {Ending::blocked, why, status.phase, true};
    return;
  }
  end_ = {};  // the turn resumed
  if (status.status == Status::retrying || status.phase == "tool") return;
  doing_ = {status.title, event.timestamp};
  if (status.title == "Resuming") page_.note("resumed", Paint::dim);
}

void TurnView::show_failure(const Envelope& event, const ModelFailed& failed) {
  page_.drop_message();
  provider_status_ = failed.provider_status;
  writing_.clear();
  if (!failed.retry) return;  // turn.failed reports it
  doing_ = {"waiting before the retry", event.timestamp};
  page_.note(fmt::format("the model request failed ({}); retrying in {}", failed.error.message,
                         spoken_duration(failed.retry->after_ms)),
             Paint::yellow);
}

void TurnView::show_failed(const TurnFailed& failed) {
  page_.drop_message();
  print_plan();
  const bool cancelled = failed.status == Status::cancelled;
  turn_ended_ = true;
  end_ = {cancelled ? Ending::cancelled : Ending::failed,
          failed.error ? failed.error->message : failed.reason, "", false};
  if (failed.error) end_.category = failed.error->category;
  end_.provider_status = provider_status_;
}

void TurnView::show_end(const Envelope& event, const TurnCompleted& completed) {
  turn_ended_ = true;
  end_ = {Ending::completed, "", "", false};
  page_.drop_message();
  print_plan();
  if (completed.stop_reason == StopReason::max_tokens)
    page_.note(fmt::format("the answer is cut off at the output limit; raise max_output_tokens in "
                           "[models.{}], or ask the model to continue",
                           model_),
               Paint::yellow);
  if (completed.stop_reason == StopReason::content_filter)
    page_.note(
        "the answer is cut off: the provider withheld the rest, because of a content filter or a "
        "refusal",
        Paint::yellow);
  std::string text =
      fmt::format("{} · {} in · {} out", spoken_duration(completed.duration_ms),
                  grouped(completed.usage.input_tokens), grouped(completed.usage.output_tokens));
  if (tools_ > 0) text += fmt::format(" · {} tool{}", tools_, tools_ == 1 ? "" : "s");
  if (setting_ == Setting::single) text += " · session " + event.session_id.text();
  page_.note(text, Paint::dim);
  const std::size_t working = children_.working();
  if (working > 0)
    page_.note(fmt::format("{} subagent{} still running; see agentrt agents --session {}", working,
                           working == 1 ? " is" : "s are", event.session_id.text()),
               Paint::dim);
}

}  // namespace agentrt::cli
