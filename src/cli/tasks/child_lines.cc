#include "cli/tasks/child_lines.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/views/terminal.h"

namespace agentrt::cli {

using namespace schema;

ActionSnapshot action_of(const Envelope& event, const ActionRequired& required) {
  ActionSnapshot action;
  action.action_id = event.action_id;
  action.session_id = event.session_id;
  action.action_type = required.action_type;
  action.prompt = required.prompt;
  action.schema = required.schema;
  action.decisions = required.decisions;
  action.digest = required.digest;
  action.scopes = required.scopes;
  action.rules = required.rules;
  action.tool_name = required.tool_name;
  action.input = required.input;
  action.cwd = required.cwd;
  action.reason = required.reason;
  action.sandbox = required.sandbox;
  action.outside_sandbox = required.outside_sandbox;
  action.user = required.user;
  action.network = required.network;
  action.destructive = required.destructive;
  action.impact = required.impact;
  action.rollback = required.rollback;
  action.executes_unknown = required.executes_unknown;
  action.files = required.files;
  action.server = required.server;
  action.url = required.url;
  action.expires_at = required.expires_at;
  return action;
}

const ActionSnapshot* ChildLines::action() const {
  return actions_.empty() ? nullptr : &actions_.front();
}

std::size_t ChildLines::working() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(children_, [](const auto& entry) { return entry.second.open > 0; }));
}

bool ChildLines::show(const Envelope& event, const Payload& payload, Page& page) {
  if (const auto* spawned = std::get_if<SubagentSpawned>(&payload)) {
    if (event.thread_id != thread_ && !children_.contains(event.thread_id)) return false;
    const Child child{event.subagent_id,
                      spawned->nickname.value_or(spawned->role.value_or("subagent")),
                      event.timestamp};
    // A call of the turn has a line of its own.
    if (event.turn_id.empty())
      page.note(fmt::format("● {} started", visible_line(child.name)), Paint::dim);
    children_[spawned->child_thread_id] = child;
    return true;
  }
  if (const auto* input = std::get_if<SubagentInput>(&payload)) {
    const auto child = children_.find(input->child_thread_id);
    if (child == children_.end()) return false;
    if (child->second.open++ == 0) child->second.since = event.timestamp;
    if (event.turn_id.empty())
      page.note(fmt::format("● {} got more to do", visible_line(child->second.name)), Paint::dim);
    return true;
  }
  if (const auto* completed = std::get_if<SubagentCompleted>(&payload)) {
    show_end(event, completed->child_thread_id, false, completed->preview.value_or(""), page);
    return true;
  }
  if (const auto* failed = std::get_if<SubagentFailed>(&payload)) {
    show_end(event, failed->child_thread_id, true, failed->error ? failed->error->message : "",
             page);
    return true;
  }
  const auto child = children_.find(event.thread_id);
  if (child == children_.end()) return false;
  note_action(event, payload, child->second, page);
  return true;
}

void ChildLines::note_action(const Envelope& event, const Payload& payload, const Child& child,
                             Page& page) {
  if (const auto* required = std::get_if<ActionRequired>(&payload)) {
    ActionSnapshot action = action_of(event, *required);
    action.subagent_id = child.id;
    action.subagent = child.name;
    actions_.push_back(std::move(action));
  } else if (const auto* resolved = std::get_if<ActionResolved>(&payload)) {
    std::erase_if(actions_,
                  [&](const ActionSnapshot& each) { return each.action_id == event.action_id; });
    page.note(fmt::format("{} for {} ({})", resolved->decision, visible_line(child.name),
                          resolved->decision_source),
              Paint::dim);
  }
}

void ChildLines::show_end(const Envelope& event, const ThreadId& thread, bool failed,
                          const std::string& text, Page& page) {
  const auto found = children_.find(thread);
  if (found == children_.end()) return;
  Child& child = found->second;
  if (child.open > 0) --child.open;
  std::string line =
      fmt::format("{} {} {} · {}", failed ? "✗" : "✓", visible_line(child.name),
                  failed ? "failed" : "finished", spoken_duration(event.timestamp - child.since));
  if (!text.empty()) line += " · " + one_line(text);
  page.note(line, failed ? Paint::yellow : Paint::dim);
  child.since = event.timestamp;  // of the next delegation, if one waits
}

}  // namespace agentrt::cli
