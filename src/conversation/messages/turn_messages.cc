#include "conversation/messages/turn_messages.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/tokens.h"
#include "conversation/messages/question.h"

namespace agentrt::conversation {

using namespace schema;

std::optional<ports::Message> answer_of(const SessionId& session, const ModelCompleted& completed) {
  ports::Message answer;
  answer.role = ports::Role::assistant;
  if (completed.text)
    answer.text = *completed.text;
  else if (completed.output_ref)
    answer.parts.push_back({.session = session,
                            .ref = *completed.output_ref,
                            .media_type = {},
                            .name = {},
                            .offset = 0,
                            .size = 0});
  else
    answer.text = completed.preview.value_or("");
  for (const RequestedCall& call : completed.tool_calls)
    answer.calls.push_back({call.tool_call_id, call.name, call.args});
  if (completed.provider_state)
    answer.state = {completed.provider, completed.model, *completed.provider_state};
  if (answer.text.empty() && answer.calls.empty() && answer.parts.empty()) return std::nullopt;
  return answer;
}

std::vector<std::string> notes_of(const HookCompleted& hook) {
  std::vector<std::string> out;
  for (const std::string& text : hook.additional_context.value_or(std::vector<std::string>{}))
    out.push_back("[Added by a hook: " + text + "]");
  if (!hook.block.value_or(false)) return out;
  const std::string reason = hook.reason.value_or("no reason given");
  if (hook.point == HookPoint::stop)
    out.push_back("[A hook prevents the end of the turn: " + reason + "]");
  else if (hook.point == HookPoint::post_tool_use)
    out.push_back("[A hook rejected the result: " + reason + "]");
  return out;
}

ports::Message note_of(std::string text) {
  ports::Message note;
  note.role = ports::Role::user;
  note.text = std::move(text);
  return note;
}

std::vector<ContextRef> files_in(const ContextResolved& context) {
  std::vector<ContextRef> files = context.workspace_refs;
  std::ranges::copy(context.missing, std::back_inserter(files));
  return files;
}

void TurnReading::take(const Fact& fact) {
  if (const auto* completed = std::get_if<ModelCompleted>(&fact.payload))
    return take_answer(*completed);
  if (const auto* context = std::get_if<ContextResolved>(&fact.payload))
    return take_context(*context);
  if (const auto* ended = std::get_if<TurnFailed>(&fact.payload)) return take_end(*ended);
  const auto* spilled = std::get_if<OutputSpilled>(&fact.payload);
  if (spilled && fact.ids.tool_call_id.empty()) {
    texts_[spilled->output_ref] = spilled->size;
    return;
  }
  if (!fact.ids.tool_call_id.empty()) {
    CallOutcome& outcome = outcomes_[fact.ids.tool_call_id];
    outcome.call = fact.ids.tool_call_id;
    const std::size_t before = outcome.text.size();
    if (conversation::take(outcome, fact))
      bytes_ += outcome.text.size() - std::min(before, outcome.text.size());
  }
  // A hook's message comes after the answer and the results that it refers to.
  if (const auto* hook = std::get_if<HookCompleted>(&fact.payload))
    for (std::string& text : notes_of(*hook)) add_note(std::move(text), answers_);
}

// A turn that is prepared again after a restart may get another message. It follows what was sent.
// What a model has answered stays as it was sent.
void TurnReading::take_context(const ContextResolved& context) {
  if (!answered_) {
    files_ = files_in(context);
    bytes_ += files_.size() * sizeof(ContextRef);
  }
  const bool again = std::exchange(prepared_, true);
  if (!context.message) return;
  add_note(*context.message, again ? answers_ : before_);
}

void TurnReading::take_answer(const ModelCompleted& completed) {
  if (completed.purpose) return;  // not an answer to the turn's input
  answered_ = true;
  auto answer = answer_of(session_, completed);
  if (!answer) return;
  for (ports::StoredPart& part : answer->parts) part.size = texts_[part.ref];
  bytes_ += size_of(*answer);
  answers_.push_back(*std::move(answer));
}

// Tells the model that the turn ended early: the next turn may refer to it, and its effects remain.
void TurnReading::take_end(const TurnFailed& failed) {
  if (failed.status == Status::cancelled)
    return add_note("[This turn was interrupted here.]", answers_);
  const std::string why = failed.error ? failed.error->message : failed.reason;
  add_note(fmt::format("[This turn failed here: {}]", why.empty() ? "no reason is known" : why),
           answers_);
}

void TurnReading::add_note(std::string text, std::vector<ports::Message>& to) {
  to.push_back(note_of(std::move(text)));
  bytes_ += size_of(to.back());
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
    for (const ports::MadeCall& call : answer.calls) {
      const auto outcome = outcomes_.find(call.id);
      out.push_back(
          result_of(outcome == outcomes_.end() ? CallOutcome{.call = call.id} : outcome->second));
    }
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
