#include "cli/views/task_view.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/views/action_view.h"
#include "cli/views/terminal.h"

namespace agentrt::cli {
namespace {

using namespace schema;

constexpr std::size_t kNameCellsMax = 40;

struct Look {
  std::string_view mark;
  Paint paint;
};

Look look_of(TaskStatus status) {
  using enum TaskStatus;
  switch (status) {
    case completed:
      return {"✓", Paint::green};
    case failed:
    case timed_out:
    case lost:
      return {"✗", Paint::red};
    case cancelled:
    case archived:
      return {"–", Paint::dim};
    case preparing:
    case running:
      return {"●", Paint::cyan};
    case waiting_input:
    case waiting_permission:
    case waiting_resource:
    case paused:
    case retrying:
    case cancelling:
      return {"●", Paint::yellow};
    default:
      return {"○", Paint::dim};
  }
}

std::string name_of_task(const TaskSnapshot& task) {
  const std::string& text = task.title && !task.title->empty() ? *task.title : task.objective;
  return std::string(std::string_view(text).substr(0, text.find('\n')));
}

std::string worker_of(const AttemptSnapshot& attempt) {
  if (!attempt.worker) return "";
  if (attempt.worker->name) return "worker " + *attempt.worker->name;
  if (attempt.worker->kind == WorkerKind::turn && attempt.worker->thread_id)
    return "thread " + attempt.worker->thread_id->text();
  if (attempt.worker->job_id) return "job " + attempt.worker->job_id->text();
  return "";
}

// "3 files, 2 tests" for {"files":3,"tests":2}; members that are no numbers are "name: value".
std::string counters_text(std::string_view json) {
  std::string out;
  while (!json.empty()) {
    bool quoted = false;
    int depth = 0;
    std::size_t end = 0;  // of the member
    for (; end < json.size(); ++end) {
      const char c = json[end];
      if (c == '"' && (end == 0 || json[end - 1] != '\\')) quoted = !quoted;
      if (quoted) continue;
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      if (c == ',' && depth <= 1) break;
    }
    std::string member(json.substr(0, end));
    json.remove_prefix(std::min(end + 1, json.size()));
    std::erase_if(member, [](char c) { return c == '{' || c == '}' || c == '"'; });
    const std::size_t colon = member.find(':');
    if (colon == member.npos) continue;
    const std::string value = one_line(member.substr(colon + 1));
    const std::string name = one_line(member.substr(0, colon));
    const bool number = !value.empty() && value.find_first_not_of("0123456789.-") == value.npos;
    out += (out.empty() ? "" : ", ") + (number ? value + " " + name : name + ": " + value);
  }
  return out;
}

// "verifying, 3 files"
std::string progress_of(const TaskSnapshot& task) {
  if (!task.progress) return "";
  std::string out = task.progress->phase.value_or("");
  if (task.progress->step) out += (out.empty() ? "" : ", ") + *task.progress->step;
  if (task.progress->counters)
    if (const std::string counts = counters_text(task.progress->counters->text); !counts.empty())
      out += (out.empty() ? "" : ", ") + counts;
  return out;
}

// Tasks by their ids, and the open request of each turn.
class Known {
 public:
  explicit Known(const TaskList& list) : now_(list.now) {
    for (const TaskSnapshot& task : list.tasks) tasks_[task.task_id] = &task;
    for (const ActionSnapshot& action : list.actions) actions_[action.turn_id] = &action;
  }

  const TaskSnapshot* task(const TaskId& id) const {
    const auto found = tasks_.find(id);
    return found == tasks_.end() ? nullptr : found->second;
  }
  // The request that the task waits for; null: none.
  const ActionSnapshot* action(const TaskSnapshot& task) const {
    if (!task.current_run_id || !task.turn_id) return nullptr;
    const auto found = actions_.find(*task.turn_id);
    return found == actions_.end() ? nullptr : found->second;
  }
  Timestamp now() const { return now_; }

 private:
  Timestamp now_;
  std::map<TaskId, const TaskSnapshot*> tasks_;
  std::map<TurnId, const ActionSnapshot*> actions_;
};

// "by sign packages (failed), publish"
std::string blockers_text(const std::vector<TaskId>& blockers, const Known& known) {
  std::string out = "by ";
  for (std::size_t i = 0; i < blockers.size(); ++i) {
    const TaskSnapshot* task = known.task(blockers[i]);
    out += (i == 0 ? "" : ", ") + (task ? name_of_task(*task) : blockers[i].text());
    if (task && ended(task->status))
      out += fmt::format(" ({})", spoken_status(name_of(task->status)));
  }
  return out;
}

// "lacks artifact bin, statement tested"
std::string lacks_text(const std::vector<MissingCondition>& missing) {
  std::string out = "lacks ";
  for (std::size_t i = 0; i < missing.size(); ++i) {
    out += fmt::format("{}{}", i == 0 ? "" : ", ", name_of(missing[i].kind));
    if (!missing[i].name.empty() && missing[i].name != name_of(missing[i].kind))
      out += " " + missing[i].name;
  }
  return out;
}

// The stored reason in words; empty: another part of the line says it.
std::string reason_text(const TaskSnapshot& task) {
  const std::string& reason = *task.status_reason;
  if (reason == "action") return "";
  if (task.status == TaskStatus::queued) {
    if (reason == "thread") return "waits for an earlier turn of its thread";
    if (reason == "worker") return "waits for a worker to claim it";
    if (reason == "slot") return "waits for a free place";
  }
  if (reason == "restart") return "the runtime was restarted";
  return spoken_status(reason);
}

std::vector<std::string> details_of(const TaskSnapshot& task, const Known& known, bool whole) {
  std::vector<std::string> out;
  const std::uint64_t made = task.attempt_count.value_or(task.attempts.size());
  if (made > 0)
    out.push_back(task.retry_policy
                      ? fmt::format("attempt {} of {}", made, task.retry_policy->max_attempts)
                      : fmt::format("attempt {}", made));
  if (task.current_run_id) {
    if (!task.attempts.empty()) out.push_back(worker_of(task.attempts.back()));
    out.push_back(progress_of(task));
  }
  if (task.blockers && !task.blockers->empty())
    out.push_back(blockers_text(*task.blockers, known));
  else if (task.missing && !task.missing->empty())
    out.push_back(lacks_text(*task.missing));
  else if (retryable_end(task.status) && task.last_error)
    out.push_back(
        fmt::format("{}: {}", name_of(task.last_error->category), task.last_error->message));
  else if (const ActionSnapshot* action = known.action(task))
    out.push_back("asks: " + subject_line(*action));
  else if (task.status_reason && !ended(task.status))
    out.push_back(reason_text(task));
  if (task.retry_at)
    out.push_back(whole ? "retry at " + format(*task.retry_at)
                        : fmt::format("retry in {}", spoken_duration(std::max<std::int64_t>(
                                                         0, *task.retry_at - known.now()))));
  std::erase(out, "");
  return out;
}

std::string details_text(const TaskSnapshot& task, const Known& known, bool whole) {
  return one_line(fmt::format("{}", fmt::join(details_of(task, known, whole), " · ")));
}

// The command to type next; empty: none.
std::string next_command(const TaskSnapshot& task, const Known& known) {
  const std::string id = task.task_id.text();
  const std::string session = task.session_id.text();
  if (const ActionSnapshot* action = known.action(task)) return answer_commands(action->action_id);
  if (retryable_end(task.status))
    return fmt::format(R"(retry: agentrt call retry_task '{{"taskId":"{}","reason":"…"}}')", id);
  if (task.status == TaskStatus::retrying)
    return fmt::format(R"(retry now: agentrt call retry_task '{{"taskId":"{}","reason":"…"}}')",
                       id);
  if (task.status == TaskStatus::draft)
    return fmt::format(R"(accept: agentrt call update_task '{{"taskId":"{}","draft":false}}')", id);
  if (task.status == TaskStatus::paused)
    return fmt::format(R"(resume: agentrt call resume_task '{{"taskId":"{}"}}')", id);
  if (task.status != TaskStatus::blocked) return "";
  if (task.blockers && !task.blockers->empty()) {
    // A blocker that was cancelled never completes.
    for (const TaskId& blocker : *task.blockers)
      if (const TaskSnapshot* found = known.task(blocker);
          found && ended(found->status) && !retryable_end(found->status))
        return fmt::format(R"(drop it: agentrt call unlink_tasks '{{"taskId":"{}",)"
                           R"("kind":"blocked_by","targetId":"{}"}}')",
                           id, blocker.text());
    return "";
  }
  if (task.missing)
    return fmt::format(R"(complete: agentrt call complete_task '{{"taskId":"{}",…}}')", id);
  if (task.current_run_id && task.thread_id)
    return fmt::format("resume: agentrt run --session {} --thread {}", session,
                       task.thread_id->text());
  return "";
}

// The tasks of one session.
class Tree {
 public:
  Tree(const std::vector<const TaskSnapshot*>& tasks, const Known& known, Paper paper, bool whole)
      : known_(known), paper_(paper), whole_(whole) {
    std::set<TaskId> listed;
    for (const TaskSnapshot* task : tasks) listed.insert(task->task_id);
    // Lists are newest first; a tree reads from the oldest on.
    for (auto at = tasks.rbegin(); at != tasks.rend(); ++at) {
      const TaskSnapshot& task = **at;
      const bool beneath = task.parent_task_id && listed.contains(*task.parent_task_id);
      beneath_[beneath ? task.parent_task_id->text() : ""].push_back(&task);
      name_cells_ = std::max(name_cells_, width_of(one_line(name_of_task(task))) + 2);
      status_cells_ = std::max(status_cells_, name_of(task.status).size());
    }
    name_cells_ = std::min(name_cells_ + 4, kNameCellsMax);
  }

  std::string text() {
    for (const TaskSnapshot* root : beneath_[""]) add(*root, "", "");
    return std::move(out_);
  }

 private:
  void add(const TaskSnapshot& task, const std::string& lead, const std::string& below) {
    if (!shown_.insert(task.task_id).second) return;
    const Look look = look_of(task.status);
    const std::size_t lead_cells = width_of(lead);
    const std::size_t room = name_cells_ > lead_cells + 2 ? name_cells_ - lead_cells - 2 : 8;
    std::string name = one_line(name_of_task(task));
    if (!whole_) name = fit(name, room);
    const std::size_t cells = width_of(name);
    const std::string status = spoken_status(name_of(task.status));
    std::string line = lead + painted(look.mark, look.paint) + ' ' + name +
                       std::string(cells < room ? room - cells : 0, ' ') + ' ' +
                       painted(status, look.paint);
    const std::string details = details_text(task, known_, whole_);
    if (!details.empty()) {
      const std::size_t used =
          lead_cells + 2 + std::max(cells, room) + 1 + std::max(status.size(), status_cells_) + 2;
      line += std::string(status_cells_ > status.size() ? status_cells_ - status.size() : 0, ' ');
      const std::size_t left = paper_.width > used + 8 ? paper_.width - used : 8;
      line += "  " + (whole_ ? details : fit(details, left));
    }
    out_ += line + '\n';
    const auto& children = beneath_[task.task_id.text()];
    if (const std::string command = next_command(task, known_); !command.empty())
      out_ += below + (children.empty() ? "   " : "│  ") + painted(command, Paint::dim) + '\n';
    for (std::size_t i = 0; i < children.size(); ++i) {
      const bool last = i + 1 == children.size();
      add(*children[i], below + (last ? "└─ " : "├─ "), below + (last ? "   " : "│  "));
    }
  }
  std::string painted(std::string_view text, Paint how) const {
    return paint(text, how, paper_.colour);
  }

  const Known& known_;
  Paper paper_;
  bool whole_;
  std::map<std::string, std::vector<const TaskSnapshot*>> beneath_;
  std::set<TaskId> shown_;
  std::size_t name_cells_ = 12;
  std::size_t status_cells_ = 8;
  std::string out_;
};

}  // namespace

std::string tasks_text(const TaskList& list, Paper paper, bool whole) {
  if (list.tasks.empty()) return "No tasks.\n";
  const Known known(list);
  std::vector<std::pair<SessionId, std::vector<const TaskSnapshot*>>> sessions;
  for (const TaskSnapshot& task : list.tasks) {
    auto at =
        std::ranges::find(sessions, task.session_id, [](const auto& each) { return each.first; });
    if (at == sessions.end()) at = sessions.insert(at, {task.session_id, {}});
    at->second.push_back(&task);
  }
  std::string out;
  for (const auto& [session, tasks] : sessions) {
    if (sessions.size() > 1)
      out += paint("session " + one_line(session.text()), Paint::bold, paper.colour) + "\n";
    out += Tree(tasks, known, paper, whole).text();
  }
  return out;
}

std::vector<std::string> task_lines(const TaskList& list) {
  const Known known(list);
  std::vector<std::string> out;
  for (const TaskSnapshot& task : list.tasks) {
    std::string details = details_text(task, known, true);
    if (const std::string command = next_command(task, known); !command.empty())
      details += (details.empty() ? "" : " · ") + command;
    out.push_back(fmt::format("{} {}  {}{}\n", look_of(task.status).mark,
                              one_line(name_of_task(task)), name_of(task.status),
                              details.empty() ? "" : "  " + details));
  }
  return out;
}

}  // namespace agentrt::cli
