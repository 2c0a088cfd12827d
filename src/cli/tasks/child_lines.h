// cli/tasks/child_lines.h: the subagents below a thread, as lines between those of its turns.
// Keeps their open requests. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/views/envelope.h"
#include "cli/views/page.h"
#include "schema/facts.h"
#include "schema/snapshots.h"

namespace agentrt::cli {

// A request as action.required describes it.
schema::ActionSnapshot action_of(const Envelope& event, const schema::ActionRequired& required);

class ChildLines {
 public:
  explicit ChildLines(ThreadId thread) : thread_(std::move(thread)) {}

  // Writes the line for an event about a subagent. Returns whether the event is about one.
  bool show(const Envelope& event, const schema::Payload& payload, Page& page);
  // The oldest open request of a subagent; null: none.
  const schema::ActionSnapshot* action() const;
  // Subagents with an open delegation.
  std::size_t working() const;

 private:
  struct Child {
    SubagentId id;
    std::string name;  // its nickname, or else its role
    Timestamp since;   // of its newest delegation
    std::size_t open = 1;
  };

  void show_end(const Envelope& event, const ThreadId& thread, bool failed, const std::string& text,
                Page& page);
  void note_action(const Envelope& event, const schema::Payload& payload, const Child& child,
                   Page& page);

  ThreadId thread_;
  std::map<ThreadId, Child> children_;           // by their threads
  std::vector<schema::ActionSnapshot> actions_;  // open, oldest first
};

}  // namespace agentrt::cli
