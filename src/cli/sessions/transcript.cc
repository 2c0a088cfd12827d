#include "cli/sessions/transcript.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "cli/views/layout.h"
#include "cli/views/markdown.h"

namespace agentrt::cli {
namespace {

using namespace schema;

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

// "log:12-40", or an output
std::optional<Transcript::Range> range_of(const ModelRequestId& request, std::string_view ref) {
  constexpr std::string_view kLog = "log:";
  if (!ref.starts_with(kLog)) return Transcript::Range{request, 0, 0, std::string(ref)};
  ref.remove_prefix(kLog.size());
  Transcript::Range range{request, 0, 0, {}};
  const char* end = ref.data() + ref.size();
  const auto first = std::from_chars(ref.data(), end, range.first);
  if (first.ec != std::errc()) return std::nullopt;
  range.last = range.first;
  if (first.ptr != end && std::from_chars(first.ptr + 1, end, range.last).ec != std::errc())
    return std::nullopt;
  return range;
}

TranscriptCall* call_in(TranscriptTurn& turn, const ToolCallId& id) {
  for (TranscriptMessage& message : turn.messages)
    for (TranscriptCall& call : message.tool_calls)
      if (call.tool_call_id == id) return &call;
  return nullptr;
}

void take_message(TranscriptTurn& turn, const Envelope& event, const ModelCompleted& completed) {
  TranscriptMessage& message = turn.messages.emplace_back();
  message.model_request_id = event.model_request_id;
  message.text = completed.text ? *completed.text : completed.preview.value_or("");
  for (const RequestedCall& call : completed.tool_calls)
    message.tool_calls.push_back(
        {.tool_call_id = call.tool_call_id, .name = call.name, .args = call.args});
}

void end_call(TranscriptCall& call, std::string outcome, std::int64_t duration_ms,
              const std::optional<std::string>& result) {
  call.outcome = std::move(outcome);
  call.duration_ms = duration_ms;
  call.result = result;
}

void take_call(TranscriptCall& call, const Payload& payload) {
  std::visit(
      Overloaded{[&](const ToolStarted& started) {
                   if (started.safe_args) call.args = *started.safe_args;
                 },
                 [&](const SandboxApplied& applied) {
                   call.outside_sandbox = applied.mode == SandboxMode::full_access;
                 },
                 [&](const ToolProgress& progress) {
                   if (progress.change) call.change = progress.change;
                 },
                 [&](const ProcessCompleted& completed) { call.exit_code = completed.exit_code; },
                 [&](const ToolResult& result) {
                   end_call(call, result.is_error ? "failed" : "completed", result.duration_ms,
                            result.preview);
                 },
                 [&](const ToolFailed& failed) {
                   const bool made = call.execution.failed_end() == CallEnd::failed;
                   end_call(call, made ? "failed" : "not_made", failed.duration_ms, failed.preview);
                   call.error = failed.error.message;
                 },
                 [](const auto&) {}},
      payload);
  call.execution.take(payload);
}

std::string input_text(const std::vector<InputPart>& input) {
  std::string out;
  for (const InputPart& part : input) {
    if (!out.empty()) out += '\n';
    if (part.type == InputKind::text)
      out += part.text.value_or("");
    else
      out += fmt::format("[{} {}]", name_of(part.type),
                         part.path ? *part.path : part.ref.value_or(""));
  }
  return out;
}

Call call_of(const TranscriptCall& call) {
  Call out;
  out.tool = call.name;
  out.args = call.args.text;
  out.exit_code = call.exit_code;
  out.change = call.change;
  if (call.outside_sandbox) out.outside = "outside the sandbox";
  return out;
}

std::string head_of(const TranscriptTurn& turn, bool several) {
  std::string out = several ? "thread " + turn.thread_id.text() + " · " : "";
  return out + turn.turn_id.text() + (turn.removed.value_or(false) ? " · removed" : "");
}

std::string call_text(const TranscriptCall& call, Paper paper) {
  if (call.outcome == "open") return "· " + call_title(call_of(call)) + "\n";
  const CallEnd end = call.outcome == "completed" ? CallEnd::done
                      : call.outcome == "failed"  ? CallEnd::failed
                                                  : CallEnd::refused;
  return call_line(call_of(call), end, call.duration_ms.value_or(0), call.error.value_or(""),
                   paper);
}

std::string ending_of(const TranscriptTurn& turn) {
  if (turn.status == "completed") return "";
  if (turn.status == "open") return "not finished";
  return turn.status + (turn.error ? ": " + *turn.error : "");
}

// A code span that may contain backquotes.
std::string code_span(const std::string& text) {
  std::size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string marks(longest + 1, '`');
  const std::string_view space = longest > 0 ? " " : "";
  return fmt::format("{}{}{}{}{}", marks, space, text, space, marks);
}

std::string quoted(const std::string& text) {
  std::string out = "> ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "> ";
  }
  return out + "\n";
}

}  // namespace

std::vector<std::string> Transcript::types() {
  std::vector<std::string> out;
  for (const std::string_view type :
       {TurnSubmitted::kType, ModelRequested::kType, ModelCompleted::kType,
        PermissionEvaluated::kType, ToolStarted::kType, SandboxApplied::kType, ToolProgress::kType,
        ProcessStarted::kType, ProcessCompleted::kType, ProcessFailed::kType, ToolResult::kType,
        ToolFailed::kType, TurnCompleted::kType, TurnFailed::kType})
    out.emplace_back(type);
  return out;
}

TranscriptTurn* Transcript::find(const TurnId& turn) {
  const auto at = std::ranges::find(turns_, turn, &TranscriptTurn::turn_id);
  return at == turns_.end() ? nullptr : &*at;
}

void Transcript::end(const Envelope& event, std::string status, std::optional<std::string> error,
                     std::optional<Usage> usage) {
  TranscriptTurn* turn = find(event.turn_id);
  if (turn == nullptr) return;
  if (std::ranges::any_of(removed_, [&](const Removed& range) {
        return range.thread == event.thread_id && range.after < event.sequence &&
               event.sequence <= range.through;
      }))
    turn->removed = true;
  turn->status = std::move(status);
  turn->error = std::move(error);
  turn->usage = usage;
}

void Transcript::know_rollback(const Envelope& event) {
  const auto payload = read_payload(event.type, event.payload.text);
  if (!payload) return;
  if (const auto* rollback = std::get_if<RollbackCompleted>(&*payload))
    removed_.push_back(
        {event.thread_id, rollback->baseline_sequence.value_or(event.sequence), event.sequence});
}

void Transcript::take(const Envelope& event) {
  const auto payload = read_payload(event.type, event.payload.text);
  if (!payload) return;  // written by an incompatible runtime
  if (const auto* submitted = std::get_if<TurnSubmitted>(&*payload)) {
    TranscriptTurn& turn = turns_.emplace_back();
    turn.thread_id = event.thread_id;
    turn.turn_id = event.turn_id;
    turn.submitted_at = event.timestamp;
    turn.input = submitted->input;
    return;
  }
  TranscriptTurn* turn = find(event.turn_id);
  if (turn == nullptr) return;
  if (const auto* requested = std::get_if<ModelRequested>(&*payload)) {
    turn->model = requested->model;
  } else if (const auto* completed = std::get_if<ModelCompleted>(&*payload)) {
    if (completed->purpose) return;
    take_message(*turn, event, *completed);
    if (!completed->text && completed->output_ref)
      if (const auto range = range_of(event.model_request_id, *completed->output_ref))
        ranges_.push_back(*range);
  } else if (const auto* done = std::get_if<TurnCompleted>(&*payload)) {
    end(event, "completed", std::nullopt, done->usage);
  } else if (const auto* failed = std::get_if<TurnFailed>(&*payload)) {
    end(event, std::string(name_of(failed->status)),
        failed->error ? failed->error->message : failed->reason, std::nullopt);
  } else if (TranscriptCall* call = call_in(*turn, event.tool_call_id)) {
    take_call(*call, *payload);
  }
}

std::optional<Transcript::Range> Transcript::take_range() {
  if (ranges_.empty()) return std::nullopt;
  const Range range = ranges_.back();
  ranges_.pop_back();
  return range;
}

void Transcript::put_text(const ModelRequestId& request, std::string text) {
  for (TranscriptTurn& turn : turns_)
    for (TranscriptMessage& message : turn.messages)
      if (message.model_request_id == request) message.text = std::move(text);
}

std::vector<TranscriptTurn> Transcript::take_ended() {
  std::vector<TranscriptTurn> out;
  while (!turns_.empty() && turns_.front().status != "open") {
    out.push_back(std::move(turns_.front()));
    turns_.pop_front();
  }
  return out;
}

std::vector<TranscriptTurn> Transcript::take_rest() {
  std::vector<TranscriptTurn> out;
  for (TranscriptTurn& turn : std::exchange(turns_, {})) out.push_back(std::move(turn));
  return out;
}

std::string transcript_text(const TranscriptTurn& turn, bool several, Timestamp now, Paper paper) {
  std::string facts = spoken_age(turn.submitted_at, now) + " · " + head_of(turn, several);
  if (turn.model) facts += " · " + *turn.model;
  std::string out = paint("· " + one_line(facts), Paint::dim, paper.colour) + "\n";
  std::string asked;
  add_block(asked, input_text(turn.input), Paint::bold, paper);
  out += asked;
  const Tone tone = paper.colour == Colour::on ? Tone::plain : Tone::source;
  bool after_calls = true;
  for (const TranscriptMessage& message : turn.messages) {
    if (!message.text.empty()) {
      Markdown markdown(paper.width, tone);
      const std::string text =
          paper.width > 0 ? markdown.feed(message.text) + markdown.end_line() : message.text;
      out += "\n" + text + (text.ends_with('\n') ? "" : "\n");
      after_calls = false;
    }
    if (!message.tool_calls.empty() && !after_calls) out += "\n";
    for (const TranscriptCall& call : message.tool_calls) out += call_text(call, paper);
    after_calls = !message.tool_calls.empty();
  }
  if (const std::string ending = ending_of(turn); !ending.empty())
    out += "\n" + paint("· " + one_line(ending), Paint::yellow, paper.colour) + "\n";
  return out + "\n";
}

std::string transcript_markdown(const TranscriptTurn& turn, bool several) {
  std::string out = fmt::format("## {}\n\n", head_of(turn, several));
  out += quoted(input_text(turn.input));
  for (const TranscriptMessage& message : turn.messages) {
    if (!message.text.empty())
      out += "\n" + message.text + (message.text.ends_with('\n') ? "" : "\n");
    if (!message.tool_calls.empty()) out += "\n";
    for (const TranscriptCall& call : message.tool_calls) {
      std::string how = call.outcome == "not_made" ? "not made" : call.outcome;
      if (call.exit_code && *call.exit_code != 0)
        how += fmt::format(", exit code {}", *call.exit_code);
      if (call.outside_sandbox) how += ", outside the sandbox";
      if (call.error) how += ": " + one_line(*call.error);
      out += fmt::format("- {} ({})\n", code_span(one_line(call_title(call_of(call)))), how);
    }
  }
  if (const std::string ending = ending_of(turn); !ending.empty())
    out += fmt::format("\n*{}*\n", one_line(ending));
  return out + "\n";
}

}  // namespace agentrt::cli
