#include "cli/parsed_arguments.h"

namespace agentrt::cli {

void add_remote(CLI::App& app, Parsed& out) {
  CLI::App* verb = add_verb(
      app, out, "rpc", "Speak JSON-RPC on standard input and output",
      "  echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"list_sessions\"}' | agentrt rpc\n\n"
      "One message per line. The methods are the commands (agentrt schema commands),\n"
      "subscribe and unsubscribe; events arrive as notifications. At the end of its\n"
      "input the program waits for outstanding replies and leaves.");
  add_config(*verb, out.arguments);
  CLI::App* attach =
      add_verb(app, out, "attach", "Follow and steer a running session",
               "  agentrt attach sess_0…\n"
               "  agentrt attach demo --remote https://box.example:7717 --token-file box.token\n"
               "  agentrt attach demo --json          # the events, one per line\n\n"
               "The same as agentrt chat on an existing session. Ctrl-D detaches; the turn keeps\n"
               "running.");
  attach->add_option("ID", out.attach.session, "The session; the beginning of its id is enough")
      ->required()
      ->type_name("");
  attach
      ->add_option("--thread", out.attach.thread,
                   "Thread of the session (default: main, or else the one used last)")
      ->type_name("ID");
  CLI::App* channels =
      add_verb(app, out, "channels", "List channels: peers that are attached to sessions",
               "  agentrt channels\n"
               "  agentrt channels sess_0… --all --json   # also those that are closed");
  channels
      ->add_option("SESSION", out.channels.session,
                   "Only channels of this session; the beginning of its id is enough")
      ->type_name("");
  channels->add_flag("--all", out.channels.all, "Also list closed channels");
  attach->add_flag("--plain", out.attach.plain, "Print line by line and redraw nothing");
}

}  // namespace agentrt::cli
