#include "cli/parsed_arguments.h"

namespace agentrt::cli {

void add_page(CLI::App& app, Parsed& out) {
  CLI::App* open = add_verb(app, out, "open", "Print a one-time link to the inspector page",
                            "  agentrt open\n"
                            "  agentrt open sess_0…              # open the page at this session\n"
                            "  agentrt open --scope read         # a page that only looks\n"
                            "  agentrt open --browser            # open it in the browser\n"
                            "\n"
                            "The daemon must be running: agentrt serve.");
  open->add_option("SESSION", out.open.session,
                   "Open the page at this session; the beginning of its id is enough")
      ->type_name("");
  open->add_option("--scope", out.open.scopes,
                   "What the page may do: read, submit or approve; repeatable (default: all three)")
      ->type_name("SCOPE")
      ->allow_extra_args(false);
  open->add_flag("--browser", out.open.browser, "Open the link in the browser of this machine");

  CLI::App* demo =
      add_verb(app, out, "demo", "Show a whole session, without a model",
               "  agentrt demo                  # prints a link to the page; Ctrl-C ends it\n"
               "  agentrt demo --auto --exit    # answers the approval itself and ends\n"
               "\n"
               "Script models call real tools in a real sandbox: a failing test, a fix, an\n"
               "approval, a background server, subagents and a job.");
  demo->add_flag("--auto", out.demo.automatic, "Answer the approval instead of you");
  demo->add_flag("--exit", out.demo.exit, "End after the last step");
  demo->add_flag("--keep", out.demo.keep, "Keep the folders of the demo and print their name");
  demo->add_flag("--browser", out.demo.browser, "Open the link in the browser of this machine");
}

}  // namespace agentrt::cli
