#include "cli/tasks/agents_view.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "cli/views/action_view.h"
#include "cli/views/terminal.h"
#include "schema/codec.h"

namespace agentrt::cli {
namespace {

using namespace schema;

// The reason of a subagent that waits for a person; the command to type says more.
constexpr std::string_view kActionReason = "action";

struct Mark {
  std::string_view sign;
  Paint how;
};

Mark mark_of(ChildStatus status) {
  switch (status) {
    case ChildStatus::running:
      return {"●", Paint::cyan};
    case ChildStatus::completed:
      return {"✓", Paint::green};
    case ChildStatus::failed:
      return {"✗", Paint::red};
    case ChildStatus::waiting_input:
    case ChildStatus::waiting_permission:
      return {"?", Paint::yellow};
    case ChildStatus::queued:
    case ChildStatus::blocked:
    case ChildStatus::cancelled:
    case ChildStatus::closed:
      break;
  }
  return {"○", Paint::dim};
}

std::string name_of_agent(const SubagentSnapshot& agent) {
  return visible_line(agent.role) +
         (agent.nickname ? " " + visible_line(*agent.nickname) : std::string());
}

// What is known beside the status: the error, the reason, or the beginning of its last message.
std::string detail_of(const SubagentSnapshot& agent) {
  std::vector<std::string> parts;
  if (agent.delegations > 1) parts.push_back(fmt::format("delegation {}", agent.delegations));
  if (agent.open_delegations > 1)
    parts.push_back(fmt::format("{} waiting", agent.open_delegations - 1));
  if (agent.last_error && agent.status == ChildStatus::failed)
    parts.push_back(one_line(agent.last_error->message));
  else if (agent.status_reason && agent.status != ChildStatus::running &&
           *agent.status_reason != kActionReason && *agent.status_reason != name_of(agent.status))
    parts.push_back(one_line(*agent.status_reason));
  else if (agent.preview && is_idle(agent.status))
    parts.push_back(one_line(*agent.preview));
  return fmt::format("{}", fmt::join(parts, " · "));
}

// The command to type next; empty: nothing is needed.
std::string next_of(const SubagentSnapshot& agent) {
  const std::string id = agent.subagent_id.text();
  switch (agent.status) {
    case ChildStatus::blocked:
      return fmt::format("resume: agentrt call resume_subagent '{{\"subagentId\":\"{}\"}}'", id);
    case ChildStatus::waiting_input:
    case ChildStatus::waiting_permission:
      return agent.action_id ? answer_commands(*agent.action_id) : "answer: see agentrt approvals";
    case ChildStatus::failed:
      return fmt::format(
          "continue: agentrt call send_subagent_input "
          "'{{\"subagentId\":\"{}\",\"input\":[{{\"type\":"
          "\"text\",\"text\":\"…\"}}]}}'",
          id);
    default:
      break;
  }
  return {};
}

class Tree {
 public:
  Tree(const AgentsOfSession& of, Timestamp now, Paper paper) : of_(of), now_(now), paper_(paper) {
    for (const SubagentSnapshot& agent : of.subagents)
      width_ = std::max(width_, width_of(name_of_agent(agent)) + 3 * agent.depth);
    width_ = std::min<std::size_t>(width_, 40);
  }

  std::string text() {
    std::string out = paint("session " + of_.session.text(), Paint::bold, paper_.colour) + "\n";
    for (const SubagentSnapshot* root : children_of(nullptr)) add(out, *root, "", "", "");
    return out;
  }

 private:
  // The children of the agent, oldest first. Null: those whose parent is not listed.
  std::vector<const SubagentSnapshot*> children_of(const SubagentSnapshot* parent) const {
    std::vector<const SubagentSnapshot*> out;
    for (const SubagentSnapshot& agent : of_.subagents) {
      const bool listed = std::ranges::any_of(of_.subagents, [&](const SubagentSnapshot& other) {
        return other.thread_id == agent.parent_thread_id;
      });
      if (parent ? agent.parent_thread_id == parent->thread_id : !listed) out.push_back(&agent);
    }
    std::ranges::sort(out, {}, [](const SubagentSnapshot* each) {
      return std::pair(each->spawned_at, each->subagent_id.text());
    });
    return out;
  }

  void add(std::string& out, const SubagentSnapshot& agent, const std::string& indent,
           const std::string& branch, const std::string& below) {
    const Mark mark = mark_of(agent.status);
    const std::string name = name_of_agent(agent);
    const std::size_t used = width_of(indent + branch + name) + 2;
    std::string rest = fmt::format("{:<18} {}", spoken_status(schema::name_of(agent.status)),
                                   spoken_age(agent.updated_at, now_));
    if (const std::string detail = detail_of(agent); !detail.empty()) rest += " · " + detail;
    rest += " · " + agent.subagent_id.text();
    const std::string pad(width_ + 4 > used ? width_ + 4 - used : 2, ' ');
    if (paper_.width > 0) {
      const std::size_t left = used + pad.size();
      rest = fit(rest, paper_.width > left + 10 ? paper_.width - left : 10);
    }
    out += indent + branch + paint(mark.sign, mark.how, paper_.colour) + " " + name + pad + rest +
           "\n";
    const std::string deeper = indent + below;
    if (const std::string next = next_of(agent); !next.empty())
      out += deeper + "   " + paint(next, Paint::dim, paper_.colour) + "\n";
    const auto children = children_of(&agent);
    for (std::size_t i = 0; i < children.size(); ++i) {
      const bool last = i + 1 == children.size();
      add(out, *children[i], deeper, last ? "└─ " : "├─ ", last ? "   " : "│  ");
    }
  }

  const AgentsOfSession& of_;
  Timestamp now_;
  Paper paper_;
  std::size_t width_ = 0;
};

}  // namespace

std::string agents_text(const std::vector<AgentsOfSession>& sessions, Timestamp now, Paper paper) {
  std::string out;
  for (const AgentsOfSession& each : sessions)
    if (!each.subagents.empty()) out += Tree(each, now, paper).text();
  return out.empty() ? "No subagents.\n" : out;
}

std::string agent_line(const SessionId& session, const SubagentSnapshot& agent) {
  std::string out =
      fmt::format("{} {} {} {}: {}", format(agent.updated_at), session.text(),
                  agent.subagent_id.text(), name_of_agent(agent), schema::name_of(agent.status));
  if (const std::string detail = detail_of(agent); !detail.empty()) out += " · " + detail;
  if (const std::string next = next_of(agent); !next.empty()) out += " · " + next;
  return out + "\n";
}

}  // namespace agentrt::cli
