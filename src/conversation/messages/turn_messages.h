// conversation/messages/turn_messages.h: converts one turn of the log to messages for a model: the
// user's input, the model's answers with their calls, the result of each call, the texts that hooks
// added, and the runtime's own messages.
//
// Every call has a result, as providers require; a call without one in the log gets a sentence that
// says so. A result consists of the preview in the log, the ref of the full output, and the images
// that the call stored.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conversation/messages/call_outcome.h"
#include "ports/models.h"
#include "schema/facts.h"

namespace agentrt::conversation {

// The answer as the assistant's message; nullopt: it is empty. REQUIRES: it has no purpose.
std::optional<ports::Message> answer_of(const SessionId& session,
                                        const schema::ModelCompleted& completed);
// What a hook adds to the conversation, in order.
std::vector<std::string> notes_of(const schema::HookCompleted& hook);
// A message of the runtime itself.
ports::Message note_of(std::string text);
// The files of the turn's input, also the missing ones.
std::vector<schema::ContextRef> files_in(const schema::ContextResolved& context);

// A turn, extended fact by fact.
class TurnReading {
 public:
  // `started`: the sequence of its turn.started.
  TurnReading(SessionId session, TurnId turn, Sequence started)
      : session_(std::move(session)), turn_(std::move(turn)), started_(started) {}

  const TurnId& turn() const { return turn_; }
  Sequence started() const { return started_; }
  // `hidden`: the turn does other work than asking about its input, so models do not see it.
  void set_input(std::vector<schema::InputPart> input, bool hidden = false);
  const std::optional<std::vector<schema::InputPart>>& input() const { return input_; }

  // Adds a fact of the turn. The caller must pass all of a type in schema::is_sent(), in order.
  void take(const schema::Fact& fact);
  // A summary contains the turn so far.
  void cover();

  // The runtime's own messages that precede the input, the input, then answers as assistant
  // messages, results as tool messages, notes of hooks as user messages; in order.
  std::vector<ports::Message> messages() const;
  // The index of the input in messages(); absent if a summary contains it.
  std::optional<std::size_t> question() const;
  bool answered() const { return answered_; }   // a model has answered it
  std::size_t bytes() const { return bytes_; }  // approximate memory use

 private:
  void take_answer(const schema::ModelCompleted& completed);
  void take_context(const schema::ContextResolved& context);
  void take_end(const schema::TurnFailed& failed);
  void add_note(std::string text, std::vector<ports::Message>& to);

  SessionId session_;
  TurnId turn_;
  Sequence started_;
  std::optional<std::vector<schema::InputPart>> input_;  // absent: not read yet
  bool prepared_ = false;                                // its context is known
  bool answered_ = false;
  bool covered_ = false;
  bool hidden_ = false;
  std::vector<ports::Message> before_;
  std::vector<schema::ContextRef> files_;  // those of its input, also the missing ones
  std::vector<ports::Message> answers_;    // and notes, in order
  std::map<ToolCallId, CallOutcome> outcomes_;
  std::map<std::string, std::uint64_t> texts_;  // sizes of stored answers, by ref
  std::size_t bytes_ = 0;
};

// The approximate size of a message in a request, in bytes.
std::size_t size_of(const ports::Message& message);
std::size_t size_of(const std::vector<ports::Message>& messages);

}  // namespace agentrt::conversation
