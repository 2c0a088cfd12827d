#include <algorithm>

#include <fmt/format.h>

#include "cli/chat/chat.h"
#include "cli/option_word.h"
#include "cli/sessions/picker.h"
#include "cli/sessions/session_ids.h"
#include "cli/tasks/agents_view.h"
#include "cli/tasks/job_view.h"
#include "cli/turns/checks.h"
#include "cli/views/action_view.h"
#include "cli/views/rules_view.h"
#include "cli/views/session_view.h"
#include "cli/views/task_view.h"
#include "schema/commands.h"
#include "schema/text_limits.h"

namespace agentrt::cli {
namespace {

constexpr std::uint64_t kRowsMax = 20;

// Lines of an output, escaped and indented.
std::string output_lines(std::string_view text, std::size_t lines_max, Colour colour) {
  std::string out;
  std::size_t lines = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (++lines <= lines_max) {
      std::string_view line = text.substr(0, end);
      if (line.ends_with('\r')) line.remove_suffix(1);
      out += "  " + visible(line) + "\n";
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (lines > lines_max)
    out +=
        "  " + paint(fmt::format("… {} more lines", lines - lines_max), Paint::dim, colour) + "\n";
  return out;
}

template <class T>
Result<T> decoded(const Result<std::string>& reply) {
  if (!reply) return std::unexpected(reply.error());
  T out;
  TRY(schema::from_json(*reply, out, schema::Unknown::ignore));
  return out;
}

// The rows of a list.
template <class Row>
Result<std::vector<Row>> rows_of(const Result<std::string>& reply) {
  if (!reply) return std::unexpected(reply.error());
  TRY_ASSIGN(const ListReply list, read_list(*reply));
  std::vector<Row> rows(list.data.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    TRY(schema::from_json(list.data[i].text, rows[i], schema::Unknown::ignore));
  return rows;
}

}  // namespace

void Chat::perform(std::string_view line) {
  const auto given = read_slash(line);
  if (!given) return problem(given.error());
  perform(*given);
}

void Chat::perform(const GivenCommand& given) {
  const std::string& argument = given.argument;
  if (given.slash != Slash::undo && given.slash != Slash::rollback) shown_rollback_.reset();
  switch (given.slash) {
    case Slash::help:
      return print("\n" + help_text(paper().width, colour() == Colour::on));
    case Slash::model:
      return show_models(argument);
    case Slash::mode:
      return show_mode(argument);
    case Slash::sandbox:
      return show_sandbox(argument);
    case Slash::rules:
      return show_rules();
    case Slash::approvals:
      return show_approvals();
    case Slash::sessions:
      return show_sessions();
    case Slash::jobs:
      return show_jobs();
    case Slash::compact:
      return compact(given.argument);
    case Slash::fork:
      return fork();
    case Slash::rollback:
      return roll_back(argument);
    case Slash::undo:
      return undo();
    case Slash::start_new:
      reset_session();
      read_policy();
      return hint("a new session begins with your next message");
    case Slash::resume:
      return choose_session(argument);
    case Slash::continue_turn:
      return continue_turn();
    case Slash::queue:
      return show_queue(argument);
    case Slash::promote:
      return change_queue(schema::PromoteQueuedTurn::kTraits.name, argument);
    case Slash::remove:
      return change_queue(schema::RemoveQueuedTurn::kTraits.name, argument);
    case Slash::interrupt:
      return send_interrupt();
    case Slash::rename:
      return rename(argument);
    case Slash::diff:
      return show_diff(argument);
    case Slash::output:
      return show_output(argument);
    case Slash::files:
      return show_files();
    case Slash::tasks:
      return show_tasks();
    case Slash::agents:
      return show_agents();
    case Slash::mcp:
      return show_servers();
    case Slash::usage:
      return show_usage();
    case Slash::quit:
      return leave(kExitDone);
  }
}

void Chat::show_models(const std::string& name) {
  if (!name.empty()) {
    const std::string model = config::resolve_model_name(name, context_.cwd);
    config::Config config = start_.folder.config;
    auto usable = add_script(config, model);
    if (usable) usable = check_models(context_, config, model);
    if (!usable) return problem(usable.error());
    start_.folder.config = std::move(config);
    start_.model = model;
    return hint(fmt::format("the next message goes to {}", model));
  }
  Table table{{"MODEL", "PROVIDER", "IS"}, {}};
  for (const auto& [each, model] : start_.folder.config.models) {
    const bool chosen = start_.model
                            ? each == *start_.model
                            : each == start_.folder.config.routing.default_name.value_or("");
    table.rows.push_back({(chosen ? "* " : "  ") + each, model.provider, model.model});
  }
  if (table.rows.empty()) return say("No model is configured; see docs/models.md.");
  print("\n" + render(table, paper().width, colour()));
}

void Chat::show_mode(const std::string& name) {
  if (name.empty()) {
    const std::string mode =
        start_.mode ? std::string(schema::name_of(*start_.mode))
        : policy_   ? std::string(schema::name_of(policy_->mode)) + " (/rules says why)"
                    : "not known yet";
    return say("mode " + mode +
               "; one of default, untrusted, on_request, on_failure, never, plan, auto, bypass");
  }
  const auto mode = option_word<schema::PermissionMode>("/mode", name);
  if (!mode) return problem(mode.error());
  schema::TurnOptions options;
  options.mode = *mode;
  if (const auto permitted = check_policy(start_.folder.config, options); !permitted)
    return problem(permitted.error());
  start_.mode = *mode;
  hint(fmt::format("mode {} from the next message on", schema::name_of(**mode)));
}

void Chat::show_sandbox(const std::string& name) {
  if (name.empty()) {
    const std::string profile = start_.sandbox ? std::string(schema::name_of(*start_.sandbox))
                                : policy_      ? std::string(schema::name_of(policy_->sandbox))
                                               : "not known yet";
    return say("sandbox " + profile + "; one of read_only, workspace_write, full_access");
  }
  const auto profile = option_word<schema::SandboxMode>("/sandbox", name);
  if (!profile) return problem(profile.error());
  schema::TurnOptions options;
  options.sandbox = *profile;
  if (const auto permitted = check_policy(start_.folder.config, options); !permitted)
    return problem(permitted.error());
  start_.sandbox = *profile;
  hint(fmt::format("sandbox {} from the next message on", schema::name_of(**profile)));
}

void Chat::show_rules() {
  schema::GetRules query;
  if (exists_) query.session_id = session_;
  if (!exists_ && !start_.folder.cwd.empty()) query.cwd = start_.folder.cwd;
  courier_.call("get_rules", schema::to_json(query), [this](const Result<std::string>& reply) {
    const auto rules = decoded<schema::RulesReply>(reply);
    if (!rules) return problem(rules.error());
    print("\n" + rules_text(*rules, now_of_clock(), paper()));
  });
}

void Chat::show_approvals() {
  schema::ListActions params;
  params.limit = kRowsMax;
  courier_.call("list_actions", schema::to_json(params), [this](const Result<std::string>& reply) {
    const auto actions = rows_of<schema::ActionSnapshot>(reply);
    if (!actions) return problem(actions.error());
    print("\n" + actions_text(*actions, now_of_clock(), paper()));
  });
}

void Chat::show_sessions() {
  schema::ListSessions params;
  params.limit = kRowsMax;
  courier_.call("list_sessions", schema::to_json(params), [this](const Result<std::string>& reply) {
    if (!reply) return problem(reply.error());
    const auto list = read_list(*reply);
    if (!list) return problem(list.error());
    const auto text = sessions_text(*list, now_of_clock(), paper().width, colour());
    if (!text) return problem(text.error());
    print("\n" + *text);
  });
}

void Chat::show_jobs() {
  if (!exists_) return hint("the session begins with your first message");
  schema::ListJobs params;
  params.session_id = session_;
  params.limit = kRowsMax;
  courier_.call("list_jobs", schema::to_json(params), [this](const Result<std::string>& reply) {
    const auto page = decoded<schema::JobPage>(reply);
    if (!page) return problem(page.error());
    if (page->data.empty()) return hint("the session has no jobs");
    JobPaper sheet;
    if (paper().width > 0) sheet.width = paper().width;
    sheet.colour = colour();
    print("\n" + jobs_text(page->data, {}, now_of_clock(), sheet));
  });
}

void Chat::compact(const std::string& instructions) {
  if (!exists_) return hint("the session has no turns yet");
  schema::CompactThread params;
  params.session_id = *session_;
  params.thread_id = thread_;
  if (!instructions.empty()) params.instructions = instructions;
  params.idempotency_key = fresh_key();
  courier_.call("compact_thread", schema::to_json(params),
                [this](const Result<std::string>& reply) {
                  if (!reply) return problem(reply.error());
                  schema::CompactThreadReply done;
                  if (auto read = schema::from_json(*reply, done, schema::Unknown::ignore); !read)
                    return problem(read.error());
                  if (done.status == schema::CompactStatus::unchanged)
                    return hint("there is nothing to compact");
                  if (done.turn_id) own_turns_.insert(*done.turn_id);
                  dirty_ = true;
                });
}

void Chat::fork() {
  if (!exists_) return hint("the session has no turns yet");
  schema::ForkThread params;
  params.session_id = *session_;
  params.thread_id = thread_;
  params.idempotency_key = fresh_key();
  courier_.call("fork_thread", schema::to_json(params), [this](const Result<std::string>& reply) {
    const auto forked = decoded<schema::ForkThreadReply>(reply);
    if (!forked) return problem(forked.error());
    hint(fmt::format("continue there with agentrt chat {} --thread {}", forked->session_id.text(),
                     forked->thread_id.text()));
  });
}

// The picker has the terminal meanwhile, as it has it in agentrt resume.
void Chat::choose_session(const std::string& search) {
  courier_.add([this, search](Attachment& attachment) -> Courier::Then {
    auto sessions = read_sessions(attachment.client());
    return [this, search, sessions = std::move(sessions)] {
      if (!sessions) return problem(sessions.error());
      std::vector<schema::SessionSummary> others = *sessions;
      std::erase_if(others, [&](const auto& each) { return each.session_id == session_; });
      if (others.empty()) return hint("there is no other session");
      lend_terminal();
      const auto picked =
          pick_session(context_.output, signals_,
                       picker_rows(std::move(others), start_.folder.cwd, now_of_clock()), search);
      take_terminal_back();
      if (!picked) return problem(picked.error());
      if (*picked) open_session(**picked);
    };
  });
}

void Chat::continue_turn() {
  if (!exists_ || conversation_.blocked().empty()) return hint("no turn is blocked");
  const TurnId turn = *conversation_.active();
  schema::ResumeThread params;
  params.session_id = *session_;
  params.thread_id = thread_;
  params.idempotency_key = fresh_key();
  own_turns_.insert(turn);
  courier_.add([this, turn, params = schema::to_json(params),
                environment = start_.folder.environment](Attachment& attachment) -> Courier::Then {
    auto reply = Courier::persist(attachment, [&](const Client& client) -> Result<std::string> {
      TRY(send_environment(client, turn, environment));
      return client.call("resume_thread", params);
    });
    return [this, reply = std::move(reply)] {
      if (!reply) return problem(reply.error());
      dirty_ = true;
    };
  });
}

void Chat::show_queue(const std::string& argument) {
  if (!argument.empty()) {
    const auto number = read_number(argument, "/queue takes the number of a queued message.");
    if (!number) return problem(number.error());
    return take_queued(*number);
  }
  const auto& queue = conversation_.queue();
  if (queue.empty()) return hint("nothing is queued");
  std::string out = "\n";
  for (std::size_t i = 0; i < queue.size(); ++i)
    out += fmt::format("  {}  {}\n", i + 1,
                       fit(one_line(queue[i].text), paper().width > 8 ? paper().width - 6 : 80));
  print(out);
  say("/queue N takes one back to edit it, /promote N moves it to the front, /remove N removes it");
}

void Chat::change_queue(std::string_view command, const std::string& argument) {
  const auto number = read_number(argument,
                                  "The command takes the number of a queued message, as "
                                  "/queue lists it.");
  if (!number) return problem(number.error());
  const auto& queue = conversation_.queue();
  if (*number > queue.size())
    return hint(queue.empty() ? "nothing is queued"
                              : fmt::format("the queue has {} messages", queue.size()));
  schema::RemoveQueuedTurn params;  // both commands take the same
  params.session_id = *session_;
  params.thread_id = thread_;
  params.queued_turn_id = queue[*number - 1].turn;
  params.idempotency_key = fresh_key();
  courier_.call(std::string(command), schema::to_json(params),
                [this](const Result<std::string>& done) {
                  if (!done) problem(done.error());
                });
}

void Chat::rename(const std::string& title) {
  if (title.empty()) return hint("/rename needs a title");
  if (!exists_) return hint("the session begins with your first message");
  schema::UpdateSession params;
  params.session_id = *session_;
  params.title = title;
  params.idempotency_key = fresh_key();
  courier_.call("update_session", schema::to_json(params),
                [this, title](const Result<std::string>& done) {
                  if (!done) return problem(done.error());
                  hint("the session is called " + title);
                });
}

void Chat::show_diff(const std::string& file) {
  std::vector<std::pair<std::string, std::string>> diffs;  // path and ref
  for (const ChangedFile& each : conversation_.files())
    if (each.path.ends_with(file))
      for (const std::string& ref : each.diffs) diffs.emplace_back(each.path, ref);
  if (diffs.empty())
    return hint(conversation_.files().empty() ? no_files_text()
                                              : "no changed file has that name; /files lists them");
  const std::size_t shown = std::min(diffs.size(), kDiffsShownMax);
  if (shown < diffs.size())
    say(fmt::format("the last {} of {} changes; /diff FILE shows those of one file", shown,
                    diffs.size()));
  for (std::size_t i = diffs.size() - shown; i < diffs.size(); ++i)
    courier_.read("/v1/outputs/" + url_escaped(diffs[i].second),
                  [this, path = diffs[i].first](const Result<std::string>& diff) {
                    if (!diff) return problem(diff.error());
                    print("\n" + paint(visible_line(path), Paint::bold, colour()) + "\n" +
                          diff_text(*diff, paper()));
                  });
}

void Chat::show_output(const std::string& argument) {
  std::size_t number = conversation_.last_output();
  if (!argument.empty()) {
    const auto given = read_number(argument, "/output takes the number of a call, as in #3.");
    if (!given) return problem(given.error());
    number = *given;
  }
  if (recalling_) return hint("the earlier turns are still being read; try again in a moment");
  const CallOutput* output = conversation_.output(number);
  if (output == nullptr)
    return hint(conversation_.last_output() == 0
                    ? "no call was made yet"
                    : fmt::format("there is no call #{}; the last one is #{}", number,
                                  conversation_.last_output()));
  const std::string head =
      "\n" + paint(fmt::format("#{} ", number) + output->title, Paint::bold, colour()) + "\n";
  courier_.add([this, head, session = *session_,
                ended = output->ended](Attachment& attachment) -> Courier::Then {
    const auto text = Courier::persist(
        attachment, [&](const Client& client) { return read_call_output(client, session, ended); });
    return [this, head, text] {
      if (!text) return problem(text.error());
      print(head +
            output_lines(text->empty() ? "(no output)" : *text, kOutputLinesShownMax, colour()));
    };
  });
}

std::string Chat::no_files_text() const {
  return recalling_ ? "the earlier turns are still being read; try again in a moment"
                    : "no file was changed in this session";
}

void Chat::show_files() {
  const auto& files = conversation_.files();
  if (files.empty()) return hint(no_files_text());
  std::string out = "\n";
  for (const ChangedFile& file : files) {
    std::string_view path = file.path;
    const std::string& cwd = start_.folder.cwd;
    if (path.starts_with(cwd + "/")) path.remove_prefix(cwd.size() + 1);
    out += fmt::format("  {} {} {}\n", visible_line(path),
                       paint(fmt::format("+{}", file.added), Paint::green, colour()),
                       paint(fmt::format("-{}", file.removed), Paint::red, colour()));
  }
  if (conversation_.files_omitted() > 0)
    out += fmt::format("  … and {} changes of other files\n", conversation_.files_omitted());
  if (recalling_) out += "  … the earlier turns are still being read\n";
  if (turns_left_out_) out += "  (without the oldest turns of this session)\n";
  print(out);
}

void Chat::show_tasks() {
  if (!exists_) return hint("the session begins with your first message");
  schema::ListTasks params;
  params.session_id = session_;
  params.limit = kRowsMax;
  courier_.call("list_tasks", schema::to_json(params), [this](const Result<std::string>& reply) {
    const auto tasks = rows_of<schema::TaskSnapshot>(reply);
    if (!tasks) return problem(tasks.error());
    print("\n" + tasks_text({*tasks, {}, now_of_clock()}, paper(), false));
  });
}

void Chat::show_agents() {
  if (!exists_) return hint("the session begins with your first message");
  schema::ListSubagents params;
  params.session_id = *session_;
  params.limit = kRowsMax;
  courier_.call("list_subagents", schema::to_json(params),
                [this, session = *session_](const Result<std::string>& reply) {
                  const auto agents = rows_of<schema::SubagentSnapshot>(reply);
                  if (!agents) return problem(agents.error());
                  print("\n" + agents_text({{session, *agents}}, now_of_clock(), paper()));
                });
}

void Chat::show_servers() {
  schema::GetToolInventory params;
  if (exists_) params.session_id = session_;
  courier_.call(
      "get_tool_inventory", schema::to_json(params), [this](const Result<std::string>& reply) {
        const auto inventory = decoded<schema::ToolInventory>(reply);
        if (!inventory) return problem(inventory.error());
        std::map<std::string, std::string> servers;
        for (const schema::CatalogTool& tool : inventory->tools) {
          if (!tool.tool_name.starts_with(schema::kServerToolPrefix)) continue;
          const std::string rest = tool.tool_name.substr(schema::kServerToolPrefix.size());
          const std::size_t end = std::min(rest.find("__"), rest.size());
          std::string& names = servers[rest.substr(0, end)];
          names += (names.empty() ? "" : ", ") + rest.substr(std::min(end + 2, rest.size()));
        }
        Table table{{"SERVER", "TOOLS"}, {}};
        for (const auto& [name, tools] : servers) table.rows.push_back({name, tools});
        for (const schema::MissingServer& missing :
             inventory->missing.value_or(std::vector<schema::MissingServer>{}))
          table.rows.push_back({missing.name, "not available: " + missing.reason});
        if (table.rows.empty())
          return say("No MCP server was found by this session; docs/mcp.md says how to add one.");
        print("\n" + render(table, paper().width, colour()));
      });
}

void Chat::show_usage() {
  if (conversation_.tokens().empty()) return hint("no tokens were used yet");
  Table table{{"MODEL", "IN", "OUT", "CACHED"}, {}};
  for (const auto& [model, tokens] : conversation_.tokens())
    table.rows.push_back({model.empty() ? "unknown" : model, std::to_string(tokens.input),
                          std::to_string(tokens.output), std::to_string(tokens.cached)});
  print("\n" + render(table, paper().width, colour()));
  const auto sum = cost();
  say(sum ? fmt::format("cost {} by the configured prices", spoken_cost(*sum))
          : "cost unknown: not every model has cost_per_mtok in the configuration");
}

}  // namespace agentrt::cli
