// cli/mcp/list.cc: `agentrt mcp list|logout`.
#include <fmt/format.h>

#include "cli/mcp/replies.h"
#include "cli/remote/remote.h"
#include "cli/verbs.h"
#include "cli/views/session_view.h"

namespace agentrt::cli {
namespace {

struct LogoutReply {
  std::string server;
  bool was_logged_in = false;
  std::string revocation;
  std::optional<std::string> reason;
};
BOOST_DESCRIBE_STRUCT(LogoutReply, (), (server, was_logged_in, revocation, reason))

struct ServerList {
  std::vector<McpServerRow> data;
};
BOOST_DESCRIBE_STRUCT(ServerList, (), (data))

std::string login_cell(const std::optional<McpLoginRow>& login) {
  if (!login) return "";
  std::string out = fmt::format("{}", fmt::join(login->scopes, " "));
  if (out.empty()) out = "yes";
  if (login->renewable) return out + ", renewed";
  if (login->expires_at) out += ", until " + format(*login->expires_at).substr(0, 16) + "Z";
  return out;
}

std::string note_cell(const McpServerRow& row) {
  std::string out = row.reason.value_or("");
  if (row.remedy) out += (out.empty() ? "" : "; ") + *row.remedy;
  return out;
}

std::string logout_text(const LogoutReply& reply) {
  if (!reply.was_logged_in) return fmt::format("there was no login to {}\n", reply.server);
  std::string out = fmt::format("logged out of {}", reply.server);
  if (reply.revocation == "confirmed") return out + " · its server confirmed it\n";
  if (reply.revocation == "not_offered")
    return out + " · its server offers no revocation; the token there is valid until it expires\n";
  return fmt::format("{} · revocation not confirmed: {}\n", out,
                     one_line(reply.reason.value_or("")));
}

}  // namespace

std::string cwd_query(const Context& context) {
  return is_remote(context) ? "" : "cwd=" + url_escaped(context.cwd);
}

Result<std::string> ask_mcp_servers(Context& context, const Client& client, bool check,
                                    const std::optional<std::string>& server) {
  std::string target = fmt::format("/v1/mcp/servers?{}", cwd_query(context));
  if (check) target += "&check=true";
  if (server) target += "&server=" + url_escaped(*server);
  return client.ask("GET", target, "", kMcpReplyMs);
}

Result<std::vector<McpServerRow>> read_mcp_servers(const std::string& reply) {
  ServerList list;
  TRY(schema::check_json(reply));
  TRY(schema::from_json(reply, list, schema::Unknown::ignore));
  return std::move(list.data);
}

int list_mcp_servers(Context& context, const McpListArguments& arguments) {
  return with_runtime(context, [&](const Client& client, Signals&) -> Result<int> {
    TRY_ASSIGN(const std::string reply,
               ask_mcp_servers(context, client, arguments.check, std::nullopt));
    if (context.form() == Form::json) {
      context.output.out(reply + "\n");
      return kExitDone;
    }
    TRY_ASSIGN(const auto rows, read_mcp_servers(reply));
    if (rows.empty()) {
      context.output.hint("· no MCP servers; see [mcp_servers.NAME] in docs/mcp.md");
      return kExitDone;
    }
    Table table{{"SERVER", "TRANSPORT", "STATE", "TOOLS", "LOGIN", "NOTE"}, {}};
    for (const McpServerRow& row : rows)
      table.rows.push_back({row.name, row.transport, row.state,
                            row.tools ? fmt::format("{}", *row.tools) : "", login_cell(row.login),
                            note_cell(row)});
    const Screen& screen = context.output.screen();
    context.output.out(render(table, screen.width, screen.out_colour));
    return kExitDone;
  });
}

int log_out_of_mcp(Context& context, const McpLogoutArguments& arguments) {
  return with_runtime(context, [&](const Client& client, Signals&) -> Result<int> {
    const std::string target = fmt::format("/v1/mcp/logins?server={}&{}",
                                           url_escaped(arguments.server), cwd_query(context));
    TRY_ASSIGN(const std::string reply, client.ask("DELETE", target, "", kMcpReplyMs));
    if (context.form() == Form::json) {
      context.output.out(reply + "\n");
      return kExitDone;
    }
    LogoutReply read;
    TRY(schema::check_json(reply));
    TRY(schema::from_json(reply, read, schema::Unknown::ignore));
    context.output.out(logout_text(read));
    return kExitDone;
  });
}

}  // namespace agentrt::cli
