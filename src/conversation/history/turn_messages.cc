#include "conversation/history/turn_messages.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/digest.h"
#include "base/image.h"
#include "base/tokens.h"
#include "conversation/history/question.h"
#include "schema/file_tools.h"

namespace agentrt::conversation {
namespace {

using namespace schema;

constexpr std::string_view kNoResult =
    "The call was interrupted. Whether it had any effect is unknown; check before you repeat it.";
constexpr std::string_view kNotMade = "The call did not run: the turn ended first.";
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
    if (!fact.ids.tool_call_id) {
      texts_[spilled->output_ref] = spilled->size;
      return;
    }
    if (is_image_type(type))
      about().images.push_back({spilled->output_ref, type, spilled->size});
    else if (spilled->digest && spilled->size <= kToolTextBytesMax)
      about().stored[spilled->output_ref] = *spilled->digest;
  } else if (const auto* hook = std::get_if<HookCompleted>(&fact.payload)) {
    take_hook(fact.ids.tool_call_id, *hook);
  } else if (const auto* context = std::get_if<ContextResolved>(&fact.payload)) {
    take_context(*context);
  } else if (const auto* ended = std::get_if<TurnFailed>(&fact.payload)) {
    take_end(*ended);
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
// What a model has answered stays as it was sent.
void TurnReading::take_context(const ContextResolved& context) {
  if (!answered_) {
    files_ = context.workspace_refs;
    std::ranges::copy(context.missing, std::back_inserter(files_));
    bytes_ += files_.size() * sizeof(ContextRef);
  }
  const bool again = std::exchange(prepared_, true);
  if (!context.message) return;
  add_note(*context.message, again ? answers_ : before_);
}

void TurnReading::take_answer(const ModelCompleted& completed) {
  if (completed.purpose) return;  // not an answer to the turn's input
  answered_ = true;
  ports::Message answer;
  answer.role = ports::Role::assistant;
  if (completed.text)
    answer.text = *completed.text;
  else if (completed.output_ref)
    answer.parts.push_back({.session = session_,
                            .ref = *completed.output_ref,
                            .media_type = {},
                            .name = {},
                            .offset = 0,
                            .size = texts_[*completed.output_ref]});
  else
    answer.text = completed.preview.value_or("");
  for (const RequestedCall& call : completed.tool_calls)
    answer.calls.push_back({call.tool_call_id, call.name, call.args});
  if (completed.provider_state)
    answer.state = {completed.provider, completed.model, *completed.provider_state};
  bytes_ += size_of(answer);
  if (!answer.text.empty() || !answer.calls.empty() || !answer.parts.empty())
    answers_.push_back(std::move(answer));
}

// Tells the model that the turn ended early: the next turn may refer to it, and its effects remain.
void TurnReading::take_end(const TurnFailed& failed) {
  if (failed.status == Status::cancelled)
    return add_note("[This turn was interrupted here.]", answers_);
  const std::string why = failed.error ? failed.error->message : failed.reason;
  add_note(fmt::format("[This turn failed here: {}]", why.empty() ? "no reason is known" : why),
           answers_);
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

void TurnReading::set_input(std::vector<InputPart> input, bool hidden) {
  hidden_ = hidden;
  for (const InputPart& part : input) bytes_ += part.text.value_or("").size();
  input_ = std::move(input);
}

void TurnReading::cover() {
  covered_ = true;
  if (!input_) input_.emplace();
  before_.clear();
  answers_.clear();
  outcomes_.clear();
  bytes_ = 0;
}

std::optional<std::size_t> TurnReading::question() const {
  return covered_ || hidden_ ? std::nullopt : std::optional(before_.size());
}

std::vector<ports::Message> TurnReading::messages() const {
  if (hidden_) return {};
  std::vector<ports::Message> out = before_;
  if (!covered_)
    out.push_back(question_of(session_, input_.value_or(std::vector<InputPart>{}), files_));
  for (const ports::Message& answer : answers_) {
    out.push_back(answer);
    for (const ports::MadeCall& call : answer.calls) out.push_back(result_of(call.id));
  }
  return out;
}

std::size_t size_of(const ports::Message& message) {
  std::size_t size = message.text.size() + (message.state ? message.state->state.text.size() : 0);
  size += message.images.size() * kImageCountedBytes;
  for (const ports::StoredPart& part : message.parts)
    size += part.media_type.empty() ? part.size : kImageCountedBytes;
  for (const ports::MadeCall& call : message.calls)
    size += call.name.size() + call.args.text.size();
  return size;
}

std::size_t size_of(const std::vector<ports::Message>& messages) {
  std::size_t size = 0;
  for (const ports::Message& message : messages) size += size_of(message);
  return size;
}

}  // namespace agentrt::conversation
