#include "cli/tasks/agents_view.h"

#include <doctest/doctest.h>

namespace agentrt::cli {
namespace {

using schema::ChildStatus;
using schema::SubagentSnapshot;

constexpr Timestamp kNow{1'780'000'000'000};

SubagentSnapshot agent(const std::string& name, ChildStatus status,
                       const std::string& parent = "main") {
  SubagentSnapshot out;
  out.subagent_id = SubagentId{"sub_" + name};
  out.thread_id = ThreadId{"thread_" + name};
  out.parent_thread_id = ThreadId{parent == "main" ? "main" : "thread_" + parent};
  out.depth = parent == "main" ? 1 : 2;
  out.role = name;
  out.status = status;
  out.spawned_at = out.updated_at = kNow;
  return out;
}

}  // namespace

TEST_CASE("subagents are shown as a tree with the command to type next") {
  AgentsOfSession demo{SessionId{"demo"}, {}};
  demo.subagents = {agent("tester", ChildStatus::blocked, "lead"),
                    agent("lead", ChildStatus::running), agent("writer", ChildStatus::completed)};
  demo.subagents[1].nickname = "anna";
  demo.subagents[2].spawned_at = kNow + 1;
  demo.subagents[2].preview = "All\nwritten.";
  CHECK(agents_text({demo}, kNow, {0, Colour::off}) ==
        "session demo\n"
        "● lead anna     running            just now · sub_lead\n"
        "└─ ○ tester     blocked            just now · sub_tester\n"
        "      resume: agentrt call resume_subagent '{\"subagentId\":\"sub_tester\"}'\n"
        "✓ writer        completed          just now · All written. · sub_writer\n");
  CHECK(agents_text({}, kNow, {0, Colour::off}) == "No subagents.\n");
}

TEST_CASE("text of a model cannot write to the terminal") {
  AgentsOfSession demo{SessionId{"demo"}, {agent("x", ChildStatus::failed)}};
  demo.subagents[0].role = "\x1b[2J";
  demo.subagents[0].last_error = schema::Failure{schema::Category::internal, "\x1b]0;t\x07", false};
  CHECK_FALSE(agents_text({demo}, kNow, {60, Colour::off}).contains('\x1b'));
  CHECK_FALSE(agent_line(demo.session, demo.subagents[0]).contains('\x1b'));
}

TEST_CASE("in a pipe, a line is not shortened, and leaves out a reason that says nothing") {
  SubagentSnapshot lead = agent("lead", ChildStatus::completed);
  lead.preview = std::string(300, 'x');
  CHECK(agent_line(SessionId{"demo"}, lead)
            .ends_with(" demo sub_lead lead: completed · " + std::string(300, 'x') + "\n"));
  lead = agent("lead", ChildStatus::waiting_permission);
  lead.status_reason = "action";
  lead.action_id = ActionId{"action_1"};
  CHECK(agent_line(SessionId{"demo"}, lead).ends_with(
      "lead: waiting_permission · answer: agentrt approve action_1, or agentrt deny action_1\n"));
  CHECK(agents_text({{SessionId{"demo"}, {lead}}}, kNow, {0, Colour::off})
            .ends_with("? lead     waiting permission just now · sub_lead\n"
                       "   answer: agentrt approve action_1, or agentrt deny action_1\n"));
}

}  // namespace agentrt::cli
