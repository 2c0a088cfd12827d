#include "cli/views/task_view.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

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
  if (attempt.worker->name) return " · worker " + *attempt.worker->name;
  if (attempt.worker->kind == WorkerKind::turn && attempt.worker->thread_id)
    return " · thread " + attempt.worker->thread_id->text();
  if (attempt.worker->job_id) return " · job " + attempt.worker->job_id->text();
  return "";
}

// "verifying, 3 files"
std::string progress_of(const TaskSnapshot& task) {
  if (!task.progress) return "";
  std::string out = task.progress->phase.value_or("");
  if (task.progress->step) out += (out.empty() ? "" : ", ") + *task.progress->step;
  if (task.progress->counters) {
    std::string text = task.progress->counters->text;
    std::erase_if(text, [](char c) { return c == '{' || c == '}' || c == '"'; });
    for (std::size_t i = 0; (i = text.find(',', i)) != std::string::npos; i += 2)
      text.insert(i + 1, " ");
    if (!text.empty()) out += (out.empty() ? "" : ", ") + text;
  }
  return out.empty() ? out : " · " + out;
}

std::string named(const std::string& id, const std::map<std::string, const TaskSnapshot*>& by_id) {
  const auto found = by_id.find(id);
  return found == by_id.end() ? id : name_of_task(*found->second);
}

std::string details_of(const TaskSnapshot& task,
                       const std::map<std::string, const TaskSnapshot*>& by_id) {
  std::string out;
  const std::uint64_t made = task.attempt_count.value_or(task.attempts.size());
  if (made > 0) {
    out += fmt::format("attempt {}", made);
    if (task.retry_policy) out += fmt::format(" of {}", task.retry_policy->max_attempts);
  }
  const bool open = task.current_run_id.has_value();
  if (open && !task.attempts.empty()) out += worker_of(task.attempts.back());
  if (open) out += progress_of(task);
  if (task.blockers && !task.blockers->empty()) {
    out += out.empty() ? "by " : " · by ";
    for (std::size_t i = 0; i < task.blockers->size(); ++i)
      out += (i == 0 ? "" : ", ") + named((*task.blockers)[i].text(), by_id);
  } else if (task.missing && !task.missing->empty()) {
    out += fmt::format("{}lacks {} {}", out.empty() ? "" : " · ",
                       name_of(task.missing->front().kind), task.missing->front().name);
  } else if (retryable_end(task.status) && task.last_error) {
    out += fmt::format("{}{}: {}", out.empty() ? "" : " · ", name_of(task.last_error->category),
                       task.last_error->message);
  } else if (task.status_reason && !ended(task.status)) {
    out += (out.empty() ? "" : " · ") + *task.status_reason;
  }
  if (task.retry_at) out += (out.empty() ? "retry at " : " · retry at ") + format(*task.retry_at);
  return out;
}

// The command to type next; empty: none.
std::string next_command(const TaskSnapshot& task) {
  const std::string id = task.task_id.text();
  if (retryable_end(task.status))
    return fmt::format(R"(retry: agentrt call retry_task '{{"taskId":"{}","reason":"…"}}')", id);
  if (task.status == TaskStatus::blocked && task.status_reason == "restart" && task.thread_id)
    return fmt::format(R"(resume: agentrt call resume_task '{{"taskId":"{}"}}')", id);
  if (task.status == TaskStatus::blocked && task.missing)
    return fmt::format(R"(complete: agentrt call complete_task '{{"taskId":"{}",…}}')", id);
  if (task.status == TaskStatus::paused)
    return fmt::format(R"(resume: agentrt call resume_task '{{"taskId":"{}"}}')", id);
  return "";
}

class Tree {
 public:
  Tree(const std::vector<TaskSnapshot>& tasks, Paper paper, bool whole)
      : paper_(paper), whole_(whole) {
    for (const TaskSnapshot& task : tasks) by_id_[task.task_id.text()] = &task;
    // Lists are newest first; a tree reads from the oldest on.
    for (auto at = tasks.rbegin(); at != tasks.rend(); ++at) {
      const bool beneath = at->parent_task_id && by_id_.contains(at->parent_task_id->text());
      beneath_[beneath ? at->parent_task_id->text() : ""].push_back(&*at);
      name_cells_ = std::max(name_cells_, width_of(name_of_task(*at)) + 2);
      status_cells_ = std::max(status_cells_, name_of(at->status).size());
    }
    name_cells_ = std::min(name_cells_ + 4, kNameCellsMax);
  }

  std::string text() {
    for (const TaskSnapshot* root : beneath_[""]) add(*root, "", "");
    return std::move(out_);
  }

 private:
  void add(const TaskSnapshot& task, const std::string& lead, const std::string& below) {
    if (!shown_.insert(task.task_id.text()).second) return;
    const Look look = look_of(task.status);
    const std::size_t lead_cells = width_of(lead);
    const std::size_t room = name_cells_ > lead_cells + 2 ? name_cells_ - lead_cells - 2 : 8;
    std::string name = one_line(name_of_task(task));
    if (!whole_) name = fit(name, room);
    const std::size_t cells = width_of(name);
    std::string status(name_of(task.status));
    std::replace(status.begin(), status.end(), '_', ' ');
    std::string line = lead + painted(look.mark, look.paint) + ' ' + name +
                       std::string(cells < room ? room - cells : 0, ' ') + ' ' +
                       painted(status, look.paint);
    const std::string details = one_line(details_of(task, by_id_));
    if (!details.empty()) {
      const std::size_t used =
          lead_cells + 2 + std::max(cells, room) + 1 + std::max(status.size(), status_cells_) + 2;
      line += std::string(status_cells_ > status.size() ? status_cells_ - status.size() : 0, ' ');
      const std::size_t left = paper_.width > used + 8 ? paper_.width - used : 8;
      line += "  " + (whole_ ? details : fit(details, left));
    }
    out_ += line + '\n';
    const auto& children = beneath_[task.task_id.text()];
    if (const std::string command = next_command(task); !command.empty())
      out_ += below + (children.empty() ? "   " : "│  ") + painted(command, Paint::dim) + '\n';
    for (std::size_t i = 0; i < children.size(); ++i) {
      const bool last = i + 1 == children.size();
      add(*children[i], below + (last ? "└─ " : "├─ "), below + (last ? "   " : "│  "));
    }
  }
  std::string painted(std::string_view text, Paint how) const {
    return paint(text, how, paper_.colour);
  }

  Paper paper_;
  bool whole_;
  std::map<std::string, const TaskSnapshot*> by_id_;
  std::map<std::string, std::vector<const TaskSnapshot*>> beneath_;
  std::set<std::string> shown_;
  std::size_t name_cells_ = 12;
  std::size_t status_cells_ = 8;
  std::string out_;
};

}  // namespace

std::string tasks_text(const std::vector<TaskSnapshot>& tasks, Paper paper, bool whole) {
  if (tasks.empty()) return "No tasks.\n";
  return Tree{tasks, paper, whole}.text();
}

std::string task_line(const TaskSnapshot& task, const std::vector<TaskSnapshot>& all) {
  std::map<std::string, const TaskSnapshot*> by_id;
  for (const TaskSnapshot& each : all) by_id[each.task_id.text()] = &each;
  const std::string details = details_of(task, by_id);
  return fmt::format("{} {}  {}{}\n", look_of(task.status).mark, one_line(name_of_task(task)),
                     name_of(task.status), details.empty() ? "" : "  " + one_line(details));
}

}  // namespace agentrt::cli
