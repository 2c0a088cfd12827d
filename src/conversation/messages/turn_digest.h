// conversation/messages/turn_digest.h: digests of what a model request consists of, independent of
// the provider. docs/replay.md defines them.
//
// A view keeps the digest of a turn's messages, extended fact by fact, so that the decision that
// makes a request can name its digest without the messages. The same functions compute it from the
// messages; tests hold both to each other.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "conversation/messages/call_outcome.h"

namespace agentrt::conversation {

// Digests are 64 hexadecimal digits; an empty text stands for an empty list.
using HexDigest = std::string;

// SHA-256 of the message as JSON, with the refs of its stored parts instead of their bytes.
HexDigest digest_of(const ports::Message& message);
// The digest of a list, extended by the digest of its next element: SHA-256(list | element).
HexDigest extended(const HexDigest& list, const HexDigest& element);
// The digest of a turn: SHA-256 of the digests of the messages before its input, of the input, and
// of the list of messages after it.
HexDigest turn_digest(const HexDigest& before, const HexDigest& question, const HexDigest& after);
HexDigest turn_digest(std::span<const ports::Message> messages,
                      std::optional<std::size_t> question);

// The result of a call that the last answer made. The text of an outcome that is known is in the
// digest alone.
struct SentCall {
  CallOutcome outcome;
  HexDigest digest;  // of the message with the result; empty: it is not known

  bool operator==(const SentCall&) const = default;
};
BOOST_DESCRIBE_STRUCT(SentCall, (), (outcome, digest))

// What the requests of a turn consist of, so far.
struct TurnDigest {
  std::string instructions;           // sha256:…, of all of them
  std::string tools;                  // sha256:…, of those that the model is offered
  std::optional<HexDigest> history;   // of the turns before it; absent: not recorded
  std::optional<HexDigest> question;  // of its input; absent: not recorded
  bool prepared = false;
  bool answered = false;
  HexDigest before;
  HexDigest after;              // without the last answer and what follows it
  HexDigest answer;             // the last answer
  std::vector<SentCall> calls;  // that it made
  std::vector<HexDigest> notes;

  bool operator==(const TurnDigest&) const = default;
};
BOOST_DESCRIBE_STRUCT(TurnDigest, (),
                      (instructions, tools, history, question, prepared, answered, before, after,
                       answer, calls, notes))

// Applies a fact of the turn; all of a type in schema::is_sent(), in order. A compaction covers the
// turn so far if a model has answered it.
void take(TurnDigest& turn, const schema::Fact& fact);

struct RequestParts {
  std::string model;
  std::string parameters;    // a JSON object
  std::string instructions;  // digests: sha256:…
  std::string tools;
  HexDigest history;
  HexDigest turn;
};
// sha256:…
std::string request_digest(const RequestParts& parts);
// Of the next request of the turn; nullopt: an earlier version prepared the turn.
std::optional<std::string> request_digest(const TurnDigest& turn, std::string model,
                                          std::string parameters);

}  // namespace agentrt::conversation
