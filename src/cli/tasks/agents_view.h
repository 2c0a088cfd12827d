// cli/tasks/agents_view.h: renders the subagents of sessions as trees. Pure.
#pragma once

#include <string>
#include <vector>

#include "cli/views/call_view.h"
#include "schema/subagent_snapshot.h"

namespace agentrt::cli {

// One session with its subagents, in any order.
struct AgentsOfSession {
  SessionId session;
  std::vector<schema::SubagentSnapshot> subagents;
};

// One tree per session that has subagents. Failed, blocked and waiting ones are followed by the
// command to type next. Lines are shortened to the paper's width; 0: they are not.
std::string agents_text(const std::vector<AgentsOfSession>& sessions, Timestamp now, Paper paper);

// One line about the subagent, for a pipe. Nothing is shortened.
std::string agent_line(const SessionId& session, const schema::SubagentSnapshot& agent);

}  // namespace agentrt::cli
