// ports/workspace.h: what a turn reads before a model is asked: instruction files and history.
#pragma once

#include <string>
#include <vector>

#include "ports/models.h"
#include "schema/facts/context.h"

namespace agentrt::ports {

struct Instructions {
  std::string text;
  std::vector<schema::ContextRef> refs;
  std::vector<schema::ContextRef> omitted;
};

class Workspace {
 public:
  virtual ~Workspace() = default;
  // Reads AGENTS.md of the workspace, where there is one. Blocks; called on a Worker.
  virtual Instructions instructions(const std::string& cwd) = 0;
};

struct HistoryWindow {
  std::vector<Message> messages;         // oldest first, without the turn that asks
  std::vector<schema::InputPart> input;  // what the turn that asks was given
  std::optional<schema::HistoryWindowLoaded> loaded;
};

class History {
 public:
  virtual ~History() = default;
  // The turns of `thread` before `turn`, as far as they fit. Blocks; called on a Worker.
  virtual Result<HistoryWindow> window(const SessionId& session, const ThreadId& thread,
                                       const TurnId& turn) = 0;
};

}  // namespace agentrt::ports
