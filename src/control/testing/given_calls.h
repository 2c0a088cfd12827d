// control/testing/given_calls.h: turns whose model calls commands.
#pragma once

#include "control/judging.h"
#include "control/testing/given.h"
#include "tools/shell.h"

namespace agentrt::control {

inline schema::Policy policy_in(schema::PermissionMode mode) {
  schema::Policy policy;
  policy.mode = mode;
  return policy;
}

// A turn that waits for its model, in a session with this policy.
inline state::Given asked_under(schema::Policy policy) {
  state::Given past = state::Given{}.session().thread_started().running("1");
  schema::PolicyChanged changed{.change = "resolved"};
  changed.policy = std::move(policy);
  past.fact(schema::SessionScope{state::kSession}, std::move(changed));
  return past.asked("1");
}

inline schema::ReportModelCompleted asks_for(const std::vector<std::string>& commands) {
  schema::ReportModelCompleted report{.request = state::request_of("1")};
  for (const std::string& command : commands)
    report.calls.push_back(
        {std::string(tools::kShell.name), {R"({"command":)" + schema::to_json(command) + "}"}});
  return report;
}

inline const state::Turn& turn_of(const state::Session& view) {
  return *view.threads.at(state::kThread).active;
}
inline policy::Effective policy_of(const state::Session& view) {
  policy::RuleSets sets;
  return effective_policy(view, turn_of(view), usual_settings().home, sets);
}
inline const state::ToolCall& first_tool(const state::Session& view) {
  return turn_of(view).tools.front();
}

inline schema::ReportInspected inspected_of(const state::Session& view,
                                            const std::string& identity = "1:2") {
  schema::ReportInspected report{turn_of(view).ids.turn, first_tool(view).id, {}, {}};
  report.binding.cwd = "/w";
  report.binding.cwd_identity = identity;
  return report;
}

inline schema::ReportProcessReady ready_of(const state::Session& view) {
  schema::ReportProcessReady report;
  report.turn = turn_of(view).ids.turn;
  report.call = first_tool(view).id;
  report.process = ProcessId{"proc_1"};
  report.sandbox.mode = schema::SandboxMode::workspace_write;
  report.started.command = "ls";
  return report;
}

inline schema::ReportProcessEnded end_of(const state::Session& view, std::int64_t exit_code) {
  schema::ReportProcessEnded report;
  report.turn = turn_of(view).ids.turn;
  report.call = first_tool(view).id;
  report.process = ProcessId{"proc_1"};
  report.exit_code = exit_code;
  report.preview = "a";
  return report;
}

inline schema::RespondAction answer_to(const state::Session& view, std::string decision) {
  schema::RespondAction command;
  command.action_id = turn_of(view).action->id;
  command.decision = std::move(decision);
  return command;
}

}  // namespace agentrt::control
