// cli/tasks/list_agents.cc: `agentrt agents`.
#include <algorithm>

#include <fmt/format.h>

#include "cli/option_word.h"
#include "cli/sessions/session_ids.h"
#include "cli/tasks/agents_view.h"
#include "cli/tasks/watching.h"
#include "cli/verbs.h"
#include "cli/views/session_view.h"
#include "schema/commands.h"

namespace agentrt::cli {
namespace {

constexpr std::uint64_t kPageMax = 1'000;
constexpr std::uint64_t kSessionsLookedAt = 100;  // the newest, without --session

Result<std::vector<SessionId>> sessions_of(const Client& client, const AgentsArguments& arguments) {
  if (arguments.session) {
    TRY_ASSIGN(const SessionId session, find_session(client, *arguments.session));
    return std::vector{session};
  }
  schema::ListSessions params;
  params.limit = kSessionsLookedAt;
  TRY_ASSIGN(const std::string reply, client.call("list_sessions", schema::to_json(params)));
  TRY_ASSIGN(const ListReply page, read_list(reply));
  std::vector<SessionId> out;
  for (const schema::Json& row : page.data) {
    schema::SessionSummary summary;
    TRY(schema::from_json(row.text, summary, schema::Unknown::ignore));
    out.push_back(summary.session_id);
  }
  return out;
}

Result<AgentsOfSession> agents_of(const Client& client, const SessionId& session,
                                  const std::vector<schema::ChildStatus>& statuses) {
  AgentsOfSession out{session, {}};
  schema::ListSubagents params;
  params.session_id = session;
  params.limit = kPageMax;
  do {
    TRY_ASSIGN(const std::string reply, client.call("list_subagents", schema::to_json(params)));
    TRY_ASSIGN(const ListReply page, read_list(reply));
    for (const schema::Json& row : page.data) {
      schema::SubagentSnapshot agent;
      TRY(schema::from_json(row.text, agent, schema::Unknown::ignore));
      if (statuses.empty() || std::ranges::find(statuses, agent.status) != statuses.end())
        out.subagents.push_back(std::move(agent));
    }
    params.cursor = page.next_cursor;
  } while (params.cursor);
  return out;
}

Result<std::vector<schema::ChildStatus>> statuses_of(const AgentsArguments& arguments) {
  std::vector<schema::ChildStatus> out;
  for (const std::string& word : arguments.statuses) {
    TRY_ASSIGN(const auto status,
               option_word<schema::ChildStatus>("--status", std::optional(word)));
    out.push_back(*status);
  }
  return out;
}

Result<std::vector<AgentsOfSession>> read_agents(const Client& client,
                                                 const AgentsArguments& arguments) {
  TRY_ASSIGN(const auto statuses, statuses_of(arguments));
  TRY_ASSIGN(const auto sessions, sessions_of(client, arguments));
  std::vector<AgentsOfSession> out;
  for (const SessionId& session : sessions) {
    TRY_ASSIGN(AgentsOfSession agents, agents_of(client, session, statuses));
    if (!agents.subagents.empty()) out.push_back(std::move(agents));
  }
  return out;
}

std::string json_of(const std::vector<AgentsOfSession>& sessions) {
  std::string out = R"({"data":[)";
  bool any = false;
  for (const AgentsOfSession& each : sessions)
    for (const schema::SubagentSnapshot& agent : each.subagents) {
      if (std::exchange(any, true)) out += ',';
      out += schema::to_json(agent);
    }
  return out + "]}\n";
}

Result<Seen> look(Context& context, const Client& client, const AgentsArguments& arguments) {
  TRY_ASSIGN(const std::vector<AgentsOfSession> sessions, read_agents(client, arguments));
  const Screen& screen = context.output.screen();
  Seen seen;
  seen.text =
      agents_text(sessions, now_of_clock(),
                  {screen.out_terminal ? terminal_width(screen.width) : 0, screen.out_colour});
  for (const AgentsOfSession& each : sessions)
    for (const schema::SubagentSnapshot& agent : each.subagents)
      seen.lines.emplace_back(agent.subagent_id.text(), context.form() == Form::json
                                                            ? schema::to_json(agent) + "\n"
                                                            : agent_line(each.session, agent));
  return seen;
}

}  // namespace

int list_agents(Context& context, const AgentsArguments& arguments) {
  if (const auto statuses = statuses_of(arguments); !statuses)
    return context.output.problem(statuses.error());
  return with_runtime(context, [&](const Client& client, Signals& signals) -> Result<int> {
    if (arguments.watch)
      return watch(context, signals, [&] { return look(context, client, arguments); });
    if (context.form() == Form::json) {
      TRY_ASSIGN(const auto sessions, read_agents(client, arguments));
      context.output.out(json_of(sessions));
      return kExitDone;
    }
    TRY_ASSIGN(const Seen seen, look(context, client, arguments));
    context.output.out(seen.text);
    return kExitDone;
  });
}

}  // namespace agentrt::cli
