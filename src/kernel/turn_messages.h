// kernel/turn_messages.h: one turn of the log as the messages a model is given: its answers with
// the calls they made, and what became of each call.
//
// Every call has a result, as providers demand it: one that has none in the log gets a sentence
// that says so. A result is the preview that the log has, and the ref behind which the rest is.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ports/models.h"
#include "schema/facts.h"
#include "store/store.h"

namespace agentrt::kernel {

// What the log says of one turn, as far as it was read: a turn that runs is read on for each of its
// requests, not from its beginning.
class TurnReading {
 public:
  // `first`: where the turn begins. `facts_max`: how many facts may be looked at for it.
  TurnReading(SessionId session, TurnId turn, Sequence first, std::size_t facts_max)
      : session_(std::move(session)),
        turn_(std::move(turn)),
        after_(first - 1),
        facts_left_(facts_max) {}

  // Up to `last`, or to the newest fact for 0, or to the turn's end. Blocks; called on a worker.
  // limit_exceeded: more facts lie there than may be looked at. unavailable: `last` is not stored.
  Result<void> read_on(store::Store& store, Sequence last);
  // A fact of the turn, by whoever knows them all in order.
  void take(const schema::Fact& fact);

  std::vector<ports::Message> messages() const;  // an assistant's and tools', in order
  const std::vector<ports::OfferedTool>& tools() const { return tools_; }  // that it may call
  Sequence ended() const { return ended_; }     // where it failed or was cancelled; 0: nowhere
  std::size_t bytes() const { return bytes_; }  // about what it takes to keep it

 private:
  // What became of one call.
  struct Outcome {
    std::string text;
    bool begun = false;
    bool is_error = false;
    bool known = false;
    std::optional<std::int64_t> exit_code;
    std::string signal;             // that ended it; empty: none did
    std::vector<std::string> refs;  // of what it printed
  };

  void take_answer(const schema::ModelCompleted& completed);
  void take_hook(const ToolCallId& call, const schema::HookCompleted& hook);
  void take_tools(const schema::ToolCatalogResolved& catalog);
  void add_note(std::string text);
  ports::Message result_of(const ToolCallId& call) const;

  SessionId session_;
  TurnId turn_;
  Sequence after_;
  std::size_t facts_left_;
  std::vector<ports::Message> answers_;  // and notes, in order
  std::map<ToolCallId, Outcome> outcomes_;
  std::vector<ports::OfferedTool> tools_;
  Sequence ended_ = 0;
  std::size_t bytes_ = 0;
};

// About how much of a request a message makes up.
std::size_t size_of(const ports::Message& message);

// Cuts the oldest results down to a sentence until all messages have at most `bytes_max`, or none
// is left to cut. Returns how many were cut.
std::size_t shorten(std::vector<ports::Message>& messages, std::size_t bytes_max);

}  // namespace agentrt::kernel
