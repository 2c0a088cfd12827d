// cli/decisions/trust.cc: `agentrt trust`: trusts the current versions of a workspace's files.
#include <filesystem>

#include <fmt/format.h>

#include "cli/verbs.h"
#include "cli/views/action_view.h"

namespace agentrt::cli {
namespace {

std::string state_of(const schema::PolicyFile& file) {
  if (file.trusted) return "trusted";
  return file.changed ? "changed since it was trusted" : "not trusted";
}

std::string files_text(const schema::TrustReply& trust, const Output& output) {
  if (trust.files.empty()) return "Nothing in " + trust.workspace + " needs to be trusted.\n";
  Table table{{"FILE", "STATE", "DIGEST"}, {}};
  for (const schema::PolicyFile& file : trust.files)
    table.rows.push_back({file.path, state_of(file), file.digest});
  return render(table, output.screen().width, output.screen().out_colour);
}

}  // namespace

int trust_workspace(Context& context, const TrustArguments& arguments) {
  std::error_code error;
  const std::string workspace =
      std::filesystem::canonical(arguments.folder.value_or(context.cwd), error).string();
  if (error)
    return context.output.problem({Code::invalid_params,
                                   fmt::format("{} is not a folder; give a folder that exists.",
                                               arguments.folder.value_or("")),
                                   {}});
  return with_runtime(context, [&](const Client& client, Signals&) -> Result<int> {
    TRY_ASSIGN(std::string text,
               client.call("get_trust", schema::to_json(schema::GetTrust{workspace})));
    schema::TrustReply trust;
    TRY(schema::from_json(text, trust, schema::Unknown::ignore));
    schema::TrustWorkspace command;
    command.cwd = workspace;
    for (schema::PolicyFile& file : trust.files) {
      if (arguments.list || file.trusted != arguments.revoke) continue;
      file.trusted = !arguments.revoke;
      file.changed = false;
      command.files.push_back({file.path, file.digest, file.trusted});
    }
    if (!command.files.empty()) {
      TRY(client.call("trust_workspace", schema::to_json(command)));
    }
    context.output.out(context.form() == Form::json ? schema::to_json(trust) + "\n"
                                                    : files_text(trust, context.output));
    return kExitDone;
  });
}

}  // namespace agentrt::cli
