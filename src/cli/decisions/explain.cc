// cli/decisions/explain.cc: `agentrt explain`: the permission decision for a shell text.

#include <fmt/format.h>

#include "cli/option_word.h"
#include "cli/sessions/session_ids.h"
#include "cli/verbs.h"
#include "cli/views/action_view.h"
#include "tools/shell.h"

namespace agentrt::cli {
namespace {

Result<schema::EvaluatePermission> query_of(const Context& context,
                                            const ExplainArguments& arguments) {
  schema::EvaluatePermission query;
  TRY_ASSIGN(const std::string text, text_or_input(arguments.text));
  query.tool_name = std::string(tools::kShell.name);
  tools::ShellArgs args;
  args.command = text;
  query.input = schema::Json{schema::to_json(args)};
  TRY_ASSIGN(query.cwd, folder_option("--cwd", arguments.cwd));
  if (!query.cwd) query.cwd = context.cwd;
  TRY_ASSIGN(query.mode, option_word<schema::PermissionMode>("--mode", arguments.mode));
  return query;
}

}  // namespace

int explain(Context& context, const ExplainArguments& arguments) {
  auto query = query_of(context, arguments);
  if (!query) return context.output.problem(query.error());
  return with_runtime(context, [&](const Client& client, Signals&) -> Result<int> {
    if (arguments.session) {
      TRY_ASSIGN(query->session_id, find_session(client, *arguments.session));
      if (!arguments.cwd) query->cwd.reset();
    }
    TRY_ASSIGN(const std::string text, client.call("evaluate_permission", schema::to_json(*query)));
    if (context.form() == Form::json) {
      context.output.out(text + "\n");
      return kExitDone;
    }
    schema::EvaluatePermissionReply reply;
    TRY(schema::from_json(text, reply, schema::Unknown::ignore));
    tools::ShellArgs args;
    TRY(schema::from_json(query->input.text, args, schema::Unknown::ignore));
    const Screen& screen = context.output.screen();
    const Paper paper{screen.out_terminal ? screen.width : 0, screen.out_colour};
    context.output.out(explanation_text(reply, args.command, paper));
    return kExitDone;
  });
}

}  // namespace agentrt::cli
