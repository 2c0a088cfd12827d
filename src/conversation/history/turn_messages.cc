#include "conversation/history/turn_messages.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/digest.h"
#include "base/image.h"
#include "schema/file_tools.h"

namespace agentrt::conversation {
namespace {

using namespace schema;

constexpr std::size_t kPageEvents = 512;
constexpr std::size_t kPageBytes = 1 << 20;
constexpr std::string_view kNoResult =
    "The call was interrupted. Whether it had any effect is unknown; check before you repeat it.";
constexpr std::string_view kNotMade = "The call did not run: the turn ended first.";
constexpr std::string_view kCut =
    "[This result was removed because the conversation exceeds the model's context.]";

// The facts that contribute messages; others are not decoded.
bool telling(const std::string& type) {
  return type == ModelCompleted::kType || type == ModelRequested::kType ||
         type == ToolStarted::kType || type == ToolResult::kType || type == ToolFailed::kType ||
         type == ProcessCompleted::kType || type == ToolCatalogResolved::kType ||
         type == HookCompleted::kType || type == TurnFailed::kType ||
         type == ContextResolved::kType || type == OutputSpilled::kType;
}

// "signal 11 (SIGSEGV)"
std::string signal_words(const std::string& signal) {
  int number = 0;
  std::from_chars(signal.data(), signal.data() + signal.size(), number);
  const char* const name = ::sigabbrev_np(number);
  return name == nullptr ? "signal " + signal : fmt::format("signal {} (SIG{})", signal, name);
}

// A note with the refs of the full output.
std::string whereabouts(const std::vector<std::string>& refs) {
  std::string list;
  for (const std::string& ref : refs)
    list += fmt::format("{}output:{}", list.empty() ? "" : " and ", ref);
  return list.empty()
             ? ""
             : fmt::format("\n[This is part of the output. read_file reads all of it at {}.]",
                           list);
}

}  // namespace

void TurnReading::take(const Fact& fact) {
  const auto about = [&]() -> Outcome& { return outcomes_[fact.ids.tool_call_id]; };
  if (const auto* completed = std::get_if<ModelCompleted>(&fact.payload)) {
    take_answer(*completed);
  } else if (std::holds_alternative<ModelRequested>(fact.payload)) {
    if (!tools_->empty()) asked_ = tools_;
  } else if (std::holds_alternative<ToolStarted>(fact.payload)) {
    about().begun = true;
  } else if (const auto* result = std::get_if<ToolResult>(&fact.payload)) {
    Outcome& outcome = about();
    outcome.text = result->preview.value_or("");
    if (result->output_ref && outcome.refs.empty() && !has_all_of(outcome, *result->output_ref))
      outcome.refs = {*result->output_ref};
    outcome.text += whereabouts(outcome.refs);
    outcome.is_error = result->is_error;
    outcome.known = true;
    bytes_ += outcome.text.size();
  } else if (const auto* failed = std::get_if<ToolFailed>(&fact.payload)) {
    Outcome& outcome = about();
    outcome.text = fmt::format("The call failed ({}): {}", name_of(failed->error.category),
                               failed->error.message);
    if (failed->preview && !failed->preview->empty())
      outcome.text += "\nOutput until then:\n" + *failed->preview;
    outcome.text += whereabouts(failed->output_refs.value_or(std::vector<std::string>{}));
    outcome.is_error = outcome.known = true;
    bytes_ += outcome.text.size();
  } else if (const auto* process = std::get_if<ProcessCompleted>(&fact.payload)) {
    // A command in the background may end after its call: the result that the model got stays as it
    // is.
    if (about().known) return;
    about().exit_code = process->exit_code;
    about().signal = process->signal ? process->signal->text : "";
    about().refs = process->output_refs.value_or(std::vector<std::string>{});
  } else if (const auto* spilled = std::get_if<OutputSpilled>(&fact.payload)) {
    const std::string type = spilled->media_type.value_or("");
    if (!fact.ids.tool_call_id) return;
    if (is_image_type(type))
      about().images.push_back({spilled->output_ref, type, spilled->size});
    else if (spilled->digest && spilled->size <= kToolTextBytesMax)
      about().stored[spilled->output_ref] = *spilled->digest;
  } else if (const auto* catalog = std::get_if<ToolCatalogResolved>(&fact.payload)) {
    take_tools(*catalog);
  } else if (const auto* hook = std::get_if<HookCompleted>(&fact.payload)) {
    take_hook(fact.ids.tool_call_id, *hook);
  } else if (const auto* context = std::get_if<ContextResolved>(&fact.payload)) {
    take_context(*context);
  } else if (std::holds_alternative<TurnFailed>(fact.payload)) {
    ended_ = fact.sequence;
  }
}

// Whether the result leaves nothing of this stored output to read: it has the same text, sends the
// image, or names the ref itself.
bool TurnReading::has_all_of(const Outcome& outcome, const std::string& ref) {
  if (std::ranges::find(outcome.images, ref, &ports::StoredImage::ref) != outcome.images.end())
    return true;
  if (outcome.text.contains("output:" + ref)) return true;
  const auto stored = outcome.stored.find(ref);
  return stored != outcome.stored.end() &&
         stored->second == "sha256:" + hex(bytes_of(sha256(outcome.text)));
}

// A turn that is prepared again after a restart may get another message. It follows what was sent.
void TurnReading::take_context(const ContextResolved& context) {
  files_ = context.workspace_refs;
  const bool again = std::exchange(prepared_, true);
  if (!context.message) return;
  add_note(*context.message, again ? answers_ : before_);
}

void TurnReading::take_answer(const ModelCompleted& completed) {
  ports::Message answer;
  answer.role = ports::Role::assistant;
  answer.text = completed.text ? *completed.text : completed.preview.value_or("");
  if (!completed.text && completed.output_ref)
    answer.text += fmt::format("\n[The rest of this text is stored at {}.]", *completed.output_ref);
  for (const RequestedCall& call : completed.tool_calls)
    answer.calls.push_back({call.tool_call_id, call.name, call.args});
  if (completed.provider_state)
    answer.state = {completed.provider, completed.model, *completed.provider_state};
  bytes_ += size_of(answer);
  if (!answer.text.empty() || !answer.calls.empty()) answers_.push_back(std::move(answer));
}

// A hook's message comes after the answer and the results that it refers to.
void TurnReading::take_hook(const ToolCallId& call, const HookCompleted& hook) {
  if (hook.updated_tool_output) {
    outcomes_[call].text = *hook.updated_tool_output;
    bytes_ += hook.updated_tool_output->size();
  }
  for (const std::string& text : hook.additional_context.value_or(std::vector<std::string>{}))
    add_note("[Added by a hook: " + text + "]", answers_);
  if (!hook.block.value_or(false)) return;
  const std::string reason = hook.reason.value_or("no reason given");
  if (hook.point == HookPoint::stop)
    add_note("[A hook prevents the end of the turn: " + reason + "]", answers_);
  else if (hook.point == HookPoint::post_tool_use)
    add_note("[A hook rejected the result: " + reason + "]", answers_);
}

void TurnReading::add_note(std::string text, std::vector<ports::Message>& to) {
  ports::Message note;
  note.role = ports::Role::user;
  note.text = std::move(text);
  bytes_ += size_of(note);
  to.push_back(std::move(note));
}

void TurnReading::take_tools(const ToolCatalogResolved& catalog) {
  std::vector<ports::OfferedTool> tools;
  for (const CatalogTool& tool : catalog.tools) {
    if (tool.policy == "denied") continue;
    tools.push_back({tool.tool_name, tool.description, tool.input_schema});
    bytes_ += tool.description.size() + tool.input_schema.text.size();
  }
  tools_ = std::make_shared<const std::vector<ports::OfferedTool>>(std::move(tools));
}

ports::Message TurnReading::result_of(const ToolCallId& call) const {
  ports::Message message;
  message.role = ports::Role::tool;
  message.answers = call;
  const auto found = outcomes_.find(call);
  const bool known = found != outcomes_.end() && found->second.known;
  message.is_error = !known || found->second.is_error;
  if (!known) {
    message.text = found != outcomes_.end() && found->second.begun ? kNoResult : kNotMade;
    return message;
  }
  if (const auto code = found->second.exit_code; code && *code != 0)
    message.text = fmt::format("Exit code {}.\n", *code);
  if (!found->second.signal.empty())
    message.text = fmt::format("Ended by {}.\n", signal_words(found->second.signal));
  message.text += found->second.text;
  if (message.text.empty()) message.text = "The command printed nothing.";
  message.images = found->second.images;
  return message;
}

std::vector<ports::Message> TurnReading::messages() const {
  std::vector<ports::Message> out;
  for (const ports::Message& answer : answers_) {
    out.push_back(answer);
    for (const ports::MadeCall& call : answer.calls) out.push_back(result_of(call.id));
  }
  return out;
}

Result<void> TurnReading::read_on(store::Store& store, Sequence last) {
  while (ended_ == 0 && (last == 0 || after_ < last)) {
    if (facts_left_ == 0)
      return fail(Code::limit_exceeded,
                  fmt::format("turn {} has more facts than can be read", turn_.text()));
    TRY_ASSIGN(const auto page, store.events(session_, after_, kPageEvents, kPageBytes));
    if (page.empty() && last > 0)
      return fail(Code::unavailable, fmt::format("fact {} is not stored yet", last));
    if (page.empty()) break;
    for (const store::Event& each : page) {
      if (ended_ > 0 || (last > 0 && each.event.sequence > last)) break;
      after_ = each.event.sequence;
      if (!telling(each.event.type) || !each.event.scope.contains(turn_.text())) continue;
      TRY_ASSIGN(const Fact fact, decode(each.event));
      if (fact.ids.turn_id == turn_) take(fact);
    }
    facts_left_ -= std::min(facts_left_, page.size());
  }
  return {};
}

std::size_t size_of(const ports::Message& message) {
  std::size_t size = message.text.size() + (message.state ? message.state->state.text.size() : 0);
  size += message.images.size() * kImageCountedBytes;
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
    const std::size_t before = size_of(message);
    if (message.role != ports::Role::tool || before <= kCut.size()) continue;
    bytes -= before - kCut.size();
    message.text = kCut;
    message.images.clear();
    ++cut;
  }
  return cut;
}

}  // namespace agentrt::conversation
