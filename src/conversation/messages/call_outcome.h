// conversation/messages/call_outcome.h: the outcome of one tool call, taken from its facts, and the
// message in which the model gets it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ports/models.h"
#include "schema/facts.h"

namespace agentrt::conversation {

// The view of a session keeps it without the text (turn_digest.h).
struct CallOutcome {
  ToolCallId call;
  std::string text;
  bool begun = false;
  bool known = false;  // the call has ended; then only a hook changes the result
  bool is_error = false;
  std::optional<std::int64_t> exit_code;
  std::string signal;             // that killed it; empty: none
  std::vector<std::string> refs;  // of its output
  std::vector<ports::StoredImage> images;
  std::map<std::string, std::string> stored;  // other short outputs of the call: ref to digest

  bool operator==(const CallOutcome&) const = default;
};
BOOST_DESCRIBE_STRUCT(CallOutcome, (),
                      (call, text, begun, known, is_error, exit_code, signal, refs, images, stored))

// Applies a fact of the call. Returns whether the result for the model has changed.
bool take(CallOutcome& outcome, const schema::Fact& fact);

// The message with the result. A call without an outcome gets a sentence that says so.
ports::Message result_of(const CallOutcome& outcome);

}  // namespace agentrt::conversation
