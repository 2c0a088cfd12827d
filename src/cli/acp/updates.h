// cli/acp/updates.h: translates the facts of a session to the updates of ACP. Pure: one object
// follows one session.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/views/envelope.h"
#include "schema/facts.h"

namespace agentrt::cli {

// The event types that updates are made of.
std::vector<std::string> update_types();

class AcpUpdates {
 public:
  explicit AcpUpdates(std::string cwd) : cwd_(std::move(cwd)) {}

  // Prompts of these turns are not repeated: the editor shows them already.
  void own_turn(const TurnId& turn) { own_.insert(turn); }
  // The `update` objects of session/update, as JSON.
  std::vector<std::string> take(const Envelope& event);

  // The tool call that a question is about, as a ToolCallUpdate. `fallback`: its id, if the
  // question is about no call.
  std::string tool_call_of(const ToolCallId& call, const schema::ActionRequired& action,
                           const std::string& fallback) const;

 private:
  struct Call {
    std::string tool;
    schema::Json args{"{}"};
    bool told = false;
  };
  struct Visitor;

  void begin_call(std::vector<std::string>& out, const ToolCallId& id, Call& call,
                  std::string_view status);

  const std::string cwd_;
  std::set<TurnId> own_;
  std::map<ToolCallId, Call> calls_;   // of the turn in progress
  std::set<ModelRequestId> hidden_;    // requests that are no part of the conversation
  std::set<ModelRequestId> streamed_;  // whose text has arrived in deltas
  std::uint64_t context_limit_ = 0;
};

// How an editor shows a call.
std::string_view kind_of_tool(std::string_view tool);
std::string title_of_call(std::string_view tool, std::string_view args);

}  // namespace agentrt::cli
