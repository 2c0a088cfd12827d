// cli/tasks/list_tasks.cc: `agentrt tasks`.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "cli/option_word.h"
#include "cli/sessions/session_ids.h"
#include "cli/verbs.h"
#include "cli/views/session_view.h"
#include "cli/views/task_view.h"
#include "schema/commands/task_reads.h"

namespace agentrt::cli {
namespace {

constexpr std::uint64_t kPageMax = 1'000;
constexpr std::size_t kTasksMax = 10'000;  // printed at once
constexpr int kWatchMs = 500;

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

// Moves the cursor to the first of `lines` lines and clears everything below.
std::string redraw(std::size_t lines) {
  return lines == 0 ? "" : fmt::format("\x1b[{}A\x1b[J", lines);
}

Result<int> watch(Context& context, const Client& client, Signals& signals,
                  const schema::ListTasks& query) {
  Output& output = context.output;
  const bool live = output.screen().out_terminal && context.form() == Form::text;
  std::map<std::string, std::string> printed;  // by task id: its last line
  std::size_t lines = 0;
  std::string before;
  for (;;) {
    TRY_ASSIGN(const ListReply list, read_tasks(client, query));
    TRY_ASSIGN(const auto tasks, decode(list));
    if (live) {
      const std::string text = tasks_text(
          tasks, {terminal_width(output.screen().width), output.screen().out_colour}, false);
      if (text != before) {
        if (!output.out(redraw(lines) + text)) return kExitDone;
        lines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
        before = text;
      }
    } else {
      for (std::size_t i = tasks.size(); i-- > 0;) {
        const std::string line =
            context.form() == Form::json ? list.data[i].text + "\n" : task_line(tasks[i], tasks);
        std::string& last = printed[tasks[i].task_id.text()];
        if (last == line) continue;
        last = line;
        if (!output.out(line)) return kExitDone;
      }
    }
    signals.wait(kWatchMs);
    if (signals.count() > 0) return kExitDone;
  }
}

}  // namespace

int list_tasks(Context& context, const TasksArguments& arguments) {
  return with_runtime(context, [&](const Client& client, Signals& signals) -> Result<int> {
    TRY_ASSIGN(const schema::ListTasks query, query_of(client, arguments));
    if (arguments.watch) return watch(context, client, signals, query);
    TRY_ASSIGN(const ListReply list, read_tasks(client, query));
    Output& output = context.output;
    if (context.form() == Form::json) {
      output.out(schema::to_json(list) + "\n");
      return kExitDone;
    }
    TRY_ASSIGN(const auto tasks, decode(list));
    output.out(tasks_text(tasks, {output.screen().width, output.screen().out_colour},
                          !output.screen().out_terminal));
    return kExitDone;
  });
}

}  // namespace agentrt::cli
