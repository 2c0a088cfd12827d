#include "conversation/messages/conversation.h"

#include <utility>

#include "conversation/messages/question.h"
#include "conversation/messages/turn_digest.h"
#include "schema/sent.h"

namespace agentrt::conversation {

using namespace schema;

namespace {

bool ends(const Fact& fact) {
  return std::holds_alternative<TurnCompleted>(fact.payload) ||
         std::holds_alternative<TurnFailed>(fact.payload);
}

}  // namespace

const std::string& PastTurn::digest() const {
  std::call_once(hashed_, [this] { digest_ = turn_digest(messages, question); });
  return digest_;
}

Conversation::Conversation(SessionId session, SessionId covered_in, std::string continuation_ref)
    : session_(session),
      source_(std::move(session)),
      continuation_ref_(std::move(continuation_ref)),
      continuation_in_(std::move(covered_in)) {}

void Conversation::enter(const SessionId& source, Sequence after) {
  source_ = source;
  through_ = after;
}

void Conversation::take(const Fact& fact) {
  if (const auto* submitted = std::get_if<TurnSubmitted>(&fact.payload)) {
    if (submitted->status != Status::queued) submitted_ = fact;
    return;
  }
  if (!is_sent(type_of(fact.payload))) return;
  through_ = fact.sequence;
  if (std::holds_alternative<TurnStarted>(fact.payload)) return start(fact);
  if (const auto* output = std::get_if<OutputSpilled>(&fact.payload);
      output && fact.ids.tool_call_id.empty())
    summaries_[output->output_ref] = output->size;
  if (const auto* completed = std::get_if<CompactionCompleted>(&fact.payload))
    return compact(fact, *completed);
  // A turn that ends in the queue, or a fact that follows the end of its turn, such as that of a
  // background process: the model is not told.
  if (!current_ || current_->turn() != fact.ids.turn_id) return;
  current_->take(fact);
  if (ends(fact)) end(fact);
}

void Conversation::set_input(const Fact& submitted) {
  const auto* payload = std::get_if<TurnSubmitted>(&submitted.payload);
  if (payload && current_ && current_->turn() == submitted.ids.turn_id)
    current_->set_input(payload->input, payload->work.has_value());
}

std::optional<ports::Message> Conversation::continuation() const {
  if (continuation_ref_.empty()) return std::nullopt;
  ports::Message message = continuation_message(continuation_in_, continuation_ref_);
  const auto size = summaries_.find(continuation_ref_);
  if (size != summaries_.end()) message.parts.front().size = size->second;
  return message;
}

void Conversation::start(const Fact& fact) {
  // An item of a job does not see the items before it.
  if (!fact.ids.job_item_id.empty()) {
    past_.clear();
    past_bytes_ = 0;
  }
  current_.emplace(source_, fact.ids.turn_id, fact.sequence);
  if (const auto submitted = std::exchange(submitted_, std::nullopt)) set_input(*submitted);
}

void Conversation::end(const Fact& fact) {
  auto past = std::make_shared<PastTurn>();
  past->turn = fact.ids.turn_id;
  if (source_ == session_) {
    past->first = current_->started();
    past->last = fact.sequence;
  }
  past->messages = current_->messages();
  past->question = current_->question();
  past->bytes = size_of(past->messages);
  past_bytes_ += past->bytes + sizeof(PastTurn) + past->messages.size() * sizeof(ports::Message);
  past_.push_back(std::move(past));
  current_.reset();
  std::erase_if(summaries_, [&](const auto& entry) { return entry.first != continuation_ref_; });
}

// A part of the log that begins after a covered part may begin within a turn.
void Conversation::compact(const Fact& fact, const CompactionCompleted& completed) {
  past_.clear();
  past_bytes_ = 0;
  continuation_ref_ = completed.continuation_ref.value_or("");
  continuation_in_ = source_;
  if (!current_ || current_->turn() != fact.ids.turn_id)
    current_.emplace(source_, fact.ids.turn_id, Sequence{0});
  if (current_->started() <= completed.covers_through) current_->cover();
}

}  // namespace agentrt::conversation
