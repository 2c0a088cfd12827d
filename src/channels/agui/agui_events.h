// channels/agui/agui_events.h: translates the facts of a turn to the events of one AG-UI run. Pure.
//
// A run ends where its turn ends, or where the turn asks a question: both are places in the log, so
// the same run always has the same events.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "channels/agui/agui_input.h"
#include "schema/facts.h"

namespace agentrt::channels {

// The event types that a run is made of.
std::vector<std::string> agui_event_types();

class AguiEvents {
 public:
  // `turn` may be unknown yet.
  AguiEvents(const AguiInput& input, SessionId session)
      : thread_(input.thread_id),
        run_(input.run_id),
        messages_(input.raw_messages),
        session_(std::move(session)) {}

  std::string started() const;
  // What the run does not use of its input; empty: nothing.
  static std::vector<std::string> ignored(const AguiInput& input);
  static std::string error(const Error& error);

  void of_turn(TurnId turn) { turn_ = std::move(turn); }
  // Questions that were open before the run, in the order in which they were asked.
  void take_open(const ActionId& action, std::string interrupt) {
    open_.emplace_back(action, std::move(interrupt));
  }
  // The events for a fact. done(): it was the last one.
  std::vector<std::string> take(const schema::Fact& fact);
  bool done() const { return done_; }

 private:
  struct Visitor;
  void close(std::vector<std::string>& out);
  void close_messages(std::vector<std::string>& out);
  void finish(std::vector<std::string>& out, const std::string& outcome, const std::string& usage);
  void interrupt(std::vector<std::string>& out);

  const std::string thread_;
  const std::string run_;
  std::vector<schema::Json> messages_;  // of the request, then those of the run
  const SessionId session_;
  TurnId turn_;
  std::uint64_t steps_ = 0;
  std::string step_;       // the open one; empty: none
  std::string message_;    // the open text message
  std::string reasoning_;  // the open reasoning message
  std::string text_;       // of the open text message
  std::set<ModelRequestId> hidden_;
  std::vector<std::pair<ActionId, std::string>> open_;
  bool done_ = false;
};

// An interrupt for an action.
std::string agui_interrupt(const ActionId& id, const ToolCallId& call,
                           const schema::ActionRequired& action);

}  // namespace agentrt::channels
