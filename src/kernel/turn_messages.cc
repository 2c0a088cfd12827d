#include "kernel/turn_messages.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace agentrt::kernel {
namespace {

using namespace schema;

constexpr std::size_t kPageEvents = 512;
constexpr std::size_t kPageBytes = 1 << 20;
constexpr std::string_view kNoResult = "The call was cut off; it is not known what it did.";
constexpr std::string_view kCut =
    "[This result was left out: the conversation is longer than the model's context.]";

// The facts that say something to a model; the rest is not even decoded.
bool telling(const std::string& type) {
  return type == ModelCompleted::kType || type == ToolResult::kType || type == ToolFailed::kType ||
         type == ProcessCompleted::kType || type == ToolCatalogResolved::kType ||
         type == HookCompleted::kType || type == TurnFailed::kType;
}

// What became of one call.
struct Outcome {
  std::string text;
  bool is_error = false;
  bool known = false;
  std::optional<std::int64_t> exit_code;
};

class Reading {
 public:
  void take(const Fact& fact) {
    if (const auto* completed = std::get_if<ModelCompleted>(&fact.payload))
      take_answer(*completed);
    else if (const auto* result = std::get_if<ToolResult>(&fact.payload))
      take_result(outcomes_[fact.ids.tool_call_id], *result);
    else if (const auto* failed = std::get_if<ToolFailed>(&fact.payload))
      take_failure(outcomes_[fact.ids.tool_call_id], failed->error);
    else if (const auto* process = std::get_if<ProcessCompleted>(&fact.payload))
      outcomes_[fact.ids.tool_call_id].exit_code = process->exit_code;
    else if (const auto* catalog = std::get_if<ToolCatalogResolved>(&fact.payload))
      take_tools(*catalog);
    else if (const auto* hook = std::get_if<HookCompleted>(&fact.payload))
      take_hook(fact.ids.tool_call_id, *hook);
    else if (std::holds_alternative<TurnFailed>(fact.payload))
      ended_ = fact.sequence;
  }

  bool over() const { return ended_ > 0; }

  TurnMessages finish() {
    TurnMessages out;
    out.tools = std::move(tools_);
    out.ended = ended_;
    for (ports::Message& answer : answers_) {
      const std::vector<ports::MadeCall> calls = answer.calls;
      out.messages.push_back(std::move(answer));
      for (const ports::MadeCall& call : calls) out.messages.push_back(result_of(call.id));
    }
    return out;
  }

 private:
  void take_answer(const ModelCompleted& completed) {
    ports::Message answer;
    answer.role = ports::Role::assistant;
    answer.text = completed.text ? *completed.text : completed.preview.value_or("");
    if (!completed.text && completed.output_ref)
      answer.text += fmt::format("\n[The rest is behind {}.]", *completed.output_ref);
    for (const RequestedCall& call : completed.tool_calls)
      answer.calls.push_back({call.tool_call_id, call.name, call.args});
    if (!answer.text.empty() || !answer.calls.empty()) answers_.push_back(std::move(answer));
  }
  static void take_result(Outcome& outcome, const ToolResult& result) {
    outcome.text = result.preview.value_or("");
    if (result.output_ref)
      outcome.text += fmt::format("\n[The whole output is behind {}.]", *result.output_ref);
    outcome.is_error = result.is_error;
    outcome.known = true;
  }
  // What a hook has to say comes behind the answer, and the results, that it is about.
  void take_hook(const ToolCallId& call, const HookCompleted& hook) {
    if (hook.updated_tool_output) outcomes_[call].text = *hook.updated_tool_output;
    for (const std::string& text : hook.additional_context.value_or(std::vector<std::string>{}))
      add_note("[A hook adds: " + text + "]");
    if (!hook.block.value_or(false)) return;
    const std::string reason = hook.reason.value_or("no reason given");
    if (hook.point == HookPoint::stop)
      add_note("[A hook does not let the turn end: " + reason + "]");
    else if (hook.point == HookPoint::post_tool_use)
      add_note("[A hook objects to the result: " + reason + "]");
  }
  void add_note(std::string text) {
    ports::Message note;
    note.role = ports::Role::user;
    note.text = std::move(text);
    answers_.push_back(std::move(note));
  }
  static void take_failure(Outcome& outcome, const Failure& error) {
    outcome.text = fmt::format("The call failed ({}): {}", name_of(error.category), error.message);
    outcome.is_error = true;
    outcome.known = true;
  }
  void take_tools(const ToolCatalogResolved& catalog) {
    tools_.clear();
    for (const CatalogTool& tool : catalog.tools)
      if (tool.policy != "denied")
        tools_.push_back({tool.tool_name, tool.description, tool.input_schema});
  }
  ports::Message result_of(const ToolCallId& call) const {
    ports::Message message;
    message.role = ports::Role::tool;
    message.answers = call;
    const auto found = outcomes_.find(call);
    const bool known = found != outcomes_.end() && found->second.known;
    message.is_error = !known || found->second.is_error;
    if (!known) {
      message.text = kNoResult;
      return message;
    }
    if (const auto code = found->second.exit_code; code && *code != 0)
      message.text = fmt::format("Exit code {}.\n", *code);
    message.text += found->second.text;
    if (message.text.empty()) message.text = "It printed nothing.";
    return message;
  }

  std::vector<ports::Message> answers_;  // and notes, in order
  std::map<ToolCallId, Outcome> outcomes_;
  std::vector<ports::OfferedTool> tools_;
  Sequence ended_ = 0;
};

}  // namespace

Result<TurnMessages> read_turn(store::Store& store, const TurnRange& range) {
  Reading reading;
  Sequence after = range.first - 1;
  for (std::size_t seen = 0;;) {
    if (seen >= range.facts_max)
      return fail(Code::limit_exceeded, fmt::format("turn {} lies in more than {} facts",
                                                    range.turn.text(), range.facts_max));
    TRY_ASSIGN(const auto page, store.events(range.session, after, kPageEvents, kPageBytes));
    for (const store::Event& each : page) {
      after = each.event.sequence;
      if (range.last > 0 && after > range.last) return reading.finish();
      if (!telling(each.event.type) || !each.event.scope.contains(range.turn.text())) continue;
      TRY_ASSIGN(const Fact fact, decode(each.event));
      if (fact.ids.turn_id == range.turn) reading.take(fact);
      if (reading.over()) return reading.finish();
    }
    seen += page.size();
    if (page.empty() || (range.last > 0 && after >= range.last)) return reading.finish();
  }
}

std::size_t size_of(const ports::Message& message) {
  std::size_t size = message.text.size();
  for (const ports::MadeCall& call : message.calls)
    size += call.name.size() + call.args.text.size();
  return size;
}

std::size_t shorten(std::vector<ports::Message>& messages, std::size_t bytes_max) {
  std::size_t bytes = 0;
  for (const ports::Message& message : messages) bytes += size_of(message);
  std::size_t cut = 0;
  for (ports::Message& message : messages) {
    if (bytes <= bytes_max) break;
    if (message.role != ports::Role::tool || message.text.size() <= kCut.size()) continue;
    bytes -= message.text.size() - kCut.size();
    message.text = kCut;
    ++cut;
  }
  return cut;
}

}  // namespace agentrt::kernel
