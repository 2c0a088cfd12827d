// conversation/messages/conversation.h: the conversation of one thread as messages for a model. It
// is extended by each fact, so that a request costs what is new.
//
// A turn that has ended is shared and never changes. What a model has received therefore stays as
// it is, and the next request starts with it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "conversation/messages/turn_messages.h"

namespace agentrt::conversation {

// A turn that ran and has ended.
struct PastTurn {
  TurnId turn;
  // Its turn.started and its end; 0: it is in another session, from which this one was forked.
  Sequence first = 0;
  Sequence last = 0;
  std::vector<ports::Message> messages;
  std::size_t bytes = 0;                // as the estimate of tokens counts them
  std::optional<std::size_t> question;  // index of its input in the messages

  // As in turn_digest.h; computed at the first call. Any thread.
  const std::string& digest() const;

 private:
  mutable std::once_flag hashed_;
  mutable std::string digest_;
};

class Conversation {
 public:
  explicit Conversation(SessionId session) : session_(session), source_(std::move(session)) {}
  // Begins with a summary: an output of the session `covered_in`.
  Conversation(SessionId session, SessionId covered_in, std::string continuation_ref);

  // The next facts are those of session `source` after `after`; of an own session or of that of an
  // inherited part.
  void enter(const SessionId& source, Sequence after);

  // Adds a fact of the thread. The caller must pass its turn.submitted facts (`queued` ones may be
  // left out) and all that schema::is_sent() names, in order; others are ignored.
  void take(const schema::Fact& fact);
  // Provides the input of the turn in progress, if take() was not given it.
  void set_input(const schema::Fact& submitted);
  // Forgets the turn in progress: a fork does not inherit it.
  void drop_current() { current_.reset(); }
  // The message that replaces the covered part, if there is one.
  std::optional<ports::Message> continuation() const;

  const std::vector<std::shared_ptr<const PastTurn>>& past() const { return past_; }
  const std::optional<TurnReading>& current() const { return current_; }  // the turn in progress
  Sequence through() const { return through_; }                           // of the last fact taken
  std::size_t bytes() const { return past_bytes_ + (current_ ? current_->bytes() : 0); }  // memory

 private:
  void start(const schema::Fact& fact);
  void end(const schema::Fact& fact);
  void compact(const schema::Fact& fact, const schema::CompactionCompleted& completed);

  SessionId session_;
  SessionId source_;                                   // of the facts that take() gets
  std::vector<std::shared_ptr<const PastTurn>> past_;  // oldest first
  std::optional<TurnReading> current_;
  // The input of the turn that starts next, if it was not queued.
  std::optional<schema::Fact> submitted_;
  std::string continuation_ref_;                    // empty: nothing is covered
  SessionId continuation_in_;                       // the session of that output
  std::map<std::string, std::uint64_t> summaries_;  // sizes of outputs of the turn in progress
  Sequence through_ = 0;
  std::size_t past_bytes_ = 0;
};

}  // namespace agentrt::conversation
