// conversation/history/turn_messages.h: converts one turn of the log to messages for a model: the
// model's answers with their calls, the result of each call, the texts that hooks added, and the
// runtime's own messages. The input of the turn is not part of it.
//
// Every call has a result, as providers require; a call without one in the log gets a sentence that
// says so. A result consists of the preview in the log, the ref of the full output, and the images
// that the call stored.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ports/models.h"
#include "schema/facts.h"
#include "store/store.h"

namespace agentrt::conversation {

// An incremental reader of one turn: each request of a running turn reads only the new facts.
class TurnReading {
 public:
  // `first`: the turn's first sequence. `facts_max`: the limit of facts to read.
  TurnReading(SessionId session, TurnId turn, Sequence first, std::size_t facts_max)
      : session_(std::move(session)),
        turn_(std::move(turn)),
        after_(first - 1),
        facts_left_(facts_max) {}

  // Reads up to `last` (0: the newest fact), or until the turn fails or is cancelled. Blocks;
  // called on a worker. Errors: limit_exceeded (more facts than facts_max); unavailable (`last` is
  // not stored).
  Result<void> read_on(store::Store& store, Sequence last);
  // Adds a fact of the turn. The caller must pass all of them in order.
  void take(const schema::Fact& fact);

  // Answers as assistant messages, results as tool messages, notes of hooks as user messages; in
  // order.
  std::vector<ports::Message> messages() const;
  // The runtime's own messages that precede the input.
  const std::vector<ports::Message>& before() const { return before_; }
  // The tools that its newest model request offers; those that become known later join the next.
  const std::vector<ports::OfferedTool>& tools() const { return asked_ ? *asked_ : *tools_; }
  // The files that its input and earlier ones gave to the model, and its skills, with digests.
  const std::vector<schema::ContextRef>& files() const { return files_; }
  Sequence ended() const { return ended_; }     // where it failed or was cancelled; 0: it did not
  std::size_t bytes() const { return bytes_; }  // approximate memory use

 private:
  // The outcome of one call.
  struct Outcome {
    std::string text;
    bool begun = false;
    bool is_error = false;
    bool known = false;
    std::optional<std::int64_t> exit_code;
    std::string signal;             // that killed it; empty: none
    std::vector<std::string> refs;  // of its output
    std::vector<ports::StoredImage> images;
    std::map<std::string, std::string> stored;  // other short outputs of the call: ref to digest
  };

  void take_answer(const schema::ModelCompleted& completed);
  void take_hook(const ToolCallId& call, const schema::HookCompleted& hook);
  void take_tools(const schema::ToolCatalogResolved& catalog);
  void take_context(const schema::ContextResolved& context);
  void add_note(std::string text, std::vector<ports::Message>& to);
  static bool has_all_of(const Outcome& outcome, const std::string& ref);
  ports::Message result_of(const ToolCallId& call) const;

  SessionId session_;
  TurnId turn_;
  Sequence after_;
  std::size_t facts_left_;
  bool prepared_ = false;  // its context is known
  std::vector<ports::Message> before_;
  std::vector<ports::Message> answers_;  // and notes, in order
  std::map<ToolCallId, Outcome> outcomes_;
  using Tools = std::shared_ptr<const std::vector<ports::OfferedTool>>;
  Tools tools_ = std::make_shared<const std::vector<ports::OfferedTool>>();  // the newest
  Tools asked_;  // as of the newest request; null: there were none
  std::vector<schema::ContextRef> files_;
  Sequence ended_ = 0;
  std::size_t bytes_ = 0;
};

// What an image in a result counts for: about 1,600 tokens, as providers count a large one.
inline constexpr std::size_t kImageCountedBytes = 6'400;

// The approximate size of a message in a request, in bytes.
std::size_t size_of(const ports::Message& message);

// Replaces the oldest results with a sentence until all messages have at most `bytes_max` bytes or
// no result is left. Returns how many were replaced.
std::size_t shorten(std::vector<ports::Message>& messages, std::size_t bytes_max);

}  // namespace agentrt::conversation
