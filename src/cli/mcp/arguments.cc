#include "cli/parsed_arguments.h"

namespace agentrt::cli {

void add_mcp(CLI::App& app, Parsed& out) {
  CLI::App* acp =
      add_verb(app, out, "acp", "Be an agent for an editor (Agent Client Protocol)",
               "  agentrt acp     # an editor starts it; see docs/acp.md\n\n"
               "Speaks the protocol on standard input and output. Turns continue if the\n"
               "editor ends.");
  add_config(*acp, out.arguments);
  CLI::App* mcp = app.add_subcommand("mcp", "Serve MCP; list MCP servers, and log in to them");
  mcp->require_subcommand(1);
  add_shared(*mcp, out.arguments);
  mcp->footer(
      "Examples:\n  agentrt mcp serve\n  agentrt mcp list --check\n  agentrt mcp login tickets\n"
      "  agentrt mcp logout tickets");
  CLI::App* serve = add_verb(*mcp, out, "serve", "Be an MCP server on standard input and output",
                             "  agentrt mcp serve     # an MCP client starts it\n\n"
                             "Its tools run turns of this runtime: see docs/mcp_server.md.");
  add_config(*serve, out.arguments);
  CLI::App* list = add_verb(*mcp, out, "list", "List the MCP servers of this folder",
                            "  agentrt mcp list\n"
                            "  agentrt mcp list --check   # connect to each\n"
                            "  agentrt mcp list --json");
  list->add_flag("--check", out.mcp_list.check, "Connect to each server and count its tools");
  CLI::App* login =
      add_verb(*mcp, out, "login", "Log in to an MCP server with a browser",
               "  agentrt mcp login tickets\n"
               "  agentrt mcp login tickets --open           # start a browser\n"
               "  agentrt mcp login https://tickets.example.com/mcp --scope read\n"
               "  agentrt mcp login tickets --no-listen      # the browser is elsewhere\n\n"
               "Exit codes: 0 logged in, 1 refused, 2 no such server, 3 the browser did not\n"
               "come back, 4 the server cannot be reached.");
  login->add_option("SERVER", out.mcp_login.server, "Name or URL of the server")
      ->required()
      ->type_name("");
  login->add_flag("--open", out.mcp_login.open, "Open the address in the browser of this machine");
  login
      ->add_option("--scope", out.mcp_login.scopes,
                   "Request this scope instead of those that the server names; repeatable")
      ->type_name("S")
      ->allow_extra_args(false);
  login
      ->add_option("--timeout", out.mcp_login.timeout_s,
                   "How long to wait for the browser, in seconds")
      ->type_name("S")
      ->capture_default_str();
  login->add_flag("--no-listen", out.mcp_login.no_listen,
                  "Do not wait for the browser: paste its final address");
  CLI::App* logout = add_verb(*mcp, out, "logout", "Revoke and delete the login to an MCP server",
                              "  agentrt mcp logout tickets");
  logout->add_option("SERVER", out.mcp_logout.server, "Name or URL of the server")
      ->required()
      ->type_name("");
}

}  // namespace agentrt::cli
