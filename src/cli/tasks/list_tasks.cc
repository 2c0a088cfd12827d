// cli/tasks/list_tasks.cc: `agentrt tasks`.
#include <algorithm>

#include <fmt/format.h>

#include "cli/decisions/open_actions.h"
#include "cli/option_word.h"
#include "cli/sessions/session_ids.h"
#include "cli/tasks/watching.h"
#include "cli/verbs.h"
#include "cli/views/session_view.h"
#include "cli/views/task_view.h"
#include "schema/commands/task_reads.h"

namespace agentrt::cli {
namespace {

constexpr std::uint64_t kPageMax = 1'000;
constexpr std::size_t kTasksMax = 10'000;  // printed at once

Result<schema::ListTasks> query_of(const Client& client, const TasksArguments& arguments) {
  schema::ListTasks query;
  if (arguments.session) {
    TRY_ASSIGN(query.session_id, find_session(client, *arguments.session));
  }
  for (const std::string& word : arguments.status) {
    TRY_ASSIGN(const auto status, option_word<schema::TaskStatus>("--status", word));
    if (!query.status) query.status.emplace();
    if (status) query.status->push_back(*status);
  }
  if (arguments.internal) query.include_internal = true;
  query.limit = kPageMax;
  return query;
}

Result<ListReply> read_tasks(const Client& client, schema::ListTasks query) {
  ListReply whole;
  do {
    TRY_ASSIGN(const std::string reply, client.call("list_tasks", schema::to_json(query)));
    TRY_ASSIGN(ListReply page, read_list(reply));
    for (schema::Json& row : page.data) whole.data.push_back(std::move(row));
    query.cursor = page.next_cursor;
  } while (query.cursor && whole.data.size() < kTasksMax);
  return whole;
}

Result<std::vector<schema::TaskSnapshot>> decode(const ListReply& list) {
  std::vector<schema::TaskSnapshot> tasks(list.data.size());
  for (std::size_t i = 0; i < tasks.size(); ++i)
    TRY(schema::from_json(list.data[i].text, tasks[i], schema::Unknown::ignore));
  return tasks;
}

// Whether a task waits for a person, whose request is worth reading.
bool any_waits(const std::vector<schema::TaskSnapshot>& tasks) {
  return std::ranges::any_of(tasks, [](const schema::TaskSnapshot& task) {
    return task.status == schema::TaskStatus::waiting_permission ||
           task.status == schema::TaskStatus::waiting_input;
  });
}

Result<Seen> look(Context& context, const Client& client, const schema::ListTasks& query) {
  TRY_ASSIGN(const ListReply list, read_tasks(client, query));
  TaskList shown{.tasks = {}, .actions = {}, .now = now_of_clock()};
  TRY_ASSIGN(shown.tasks, decode(list));
  if (any_waits(shown.tasks)) {
    TRY_ASSIGN(shown.actions, open_actions(client, query.session_id));
  }
  const Screen& screen = context.output.screen();
  Seen seen;
  seen.text =
      tasks_text(shown, {terminal_width(screen.width), screen.out_colour}, !screen.out_terminal);
  const std::vector<std::string> lines = task_lines(shown);
  for (std::size_t i = lines.size(); i-- > 0;)
    seen.lines.emplace_back(shown.tasks[i].task_id.text(),
                            context.form() == Form::json ? list.data[i].text + "\n" : lines[i]);
  return seen;
}

}  // namespace

int list_tasks(Context& context, const TasksArguments& arguments) {
  return with_runtime(context, [&](const Client& client, Signals& signals) -> Result<int> {
    TRY_ASSIGN(const schema::ListTasks query, query_of(client, arguments));
    if (arguments.watch)
      return watch(context, signals, [&] { return look(context, client, query); });
    if (context.form() == Form::json) {
      TRY_ASSIGN(const ListReply list, read_tasks(client, query));
      context.output.out(schema::to_json(list) + "\n");
      return kExitDone;
    }
    TRY_ASSIGN(const Seen seen, look(context, client, query));
    context.output.out(seen.text);
    return kExitDone;
  });
}

}  // namespace agentrt::cli
