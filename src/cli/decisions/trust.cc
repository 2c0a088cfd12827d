// cli/decisions/trust.cc: `agentrt trust`: shows what the files of a workspace would do, and trusts
// their current versions.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "cli/decisions/keyboard.h"
#include "cli/verbs.h"
#include "cli/views/layout.h"
#include "cli/views/trust_view.h"

namespace agentrt::cli {
namespace {

std::string files_text(const schema::TrustReply& trust, const Output& output) {
  if (trust.files.empty()) return "No files in " + trust.workspace + " need to be trusted.\n";
  const Screen& screen = output.screen();
  return trust_files_text(trust.files, {screen.out_terminal ? screen.width : 0, screen.out_colour});
}

// The files whose trust the command changes.
schema::TrustWorkspace changes_of(const schema::TrustReply& trust,
                                  const TrustArguments& arguments) {
  schema::TrustWorkspace command;
  command.cwd = trust.workspace;
  for (const schema::PolicyFile& file : trust.files)
    if (!arguments.list && file.trusted == arguments.revoke)
      command.files.push_back({file.path, file.digest, !arguments.revoke, file.effects});
  return command;
}

Result<bool> person_agrees(Context& context, Signals& signals, const schema::TrustReply& trust) {
  const Screen& screen = context.output.screen();
  context.output.err("Trust the current versions of these files?\n\n" +
                     files_text(trust, context.output) + "\n");
  const std::string keys = keys_text({{"y", "trust them as they are now"}, {"n", "no"}},
                                     {screen.err_terminal ? screen.width : 0, screen.err_colour});
  std::string prompt = keys;
  while (const auto line = ask_line(context.output, signals, prompt)) {
    if (*line == "y" || *line == "yes") return true;
    if (*line == "n" || *line == "no") return false;
    prompt = "  not accepted: type y or n\n" + keys;
  }
  context.output.err("\n");
  return false;
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
  return with_runtime(context, [&](const Client& client, Signals& signals) -> Result<int> {
    TRY_ASSIGN(std::string text,
               client.call("get_trust", schema::to_json(schema::GetTrust{workspace})));
    schema::TrustReply trust;
    TRY(schema::from_json(text, trust, schema::Unknown::ignore));
    const schema::TrustWorkspace command = changes_of(trust, arguments);
    const bool asks = !command.files.empty() && !arguments.revoke && !arguments.yes;
    const bool can_ask = context.output.screen().in_terminal && context.form() == Form::text;
    if (asks && !can_ask) {
      if (context.form() == Form::text) context.output.err(files_text(trust, context.output));
      context.output.problem(
          {Code::forbidden,
           "Nothing was trusted, because nobody can be asked here; look at what the files would do "
           "(agentrt trust --list), then use --yes.",
           {}});
      return kExitNeedsPerson;
    }
    if (asks) {
      TRY_ASSIGN(const bool agreed, person_agrees(context, signals, trust));
      if (!agreed) {
        context.output.out("Nothing was trusted.\n");
        return signals.count() > 0 ? kExitInterrupted : kExitFailed;
      }
    }
    if (!command.files.empty()) TRY(client.call("trust_workspace", schema::to_json(command)));
    for (schema::PolicyFile& file : trust.files) {
      const bool changed = std::ranges::find(command.files, file.path,
                                             &schema::FileToTrust::path) != command.files.end();
      if (!changed) continue;
      file.trusted = !arguments.revoke;
      file.changed = false;
      file.trusted_effects.reset();
    }
    context.output.out(context.form() == Form::json ? schema::to_json(trust) + "\n"
                                                    : files_text(trust, context.output));
    return kExitDone;
  });
}

}  // namespace agentrt::cli
