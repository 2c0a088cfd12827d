// cli/sessions/resume.cc: `agentrt resume`: choose an earlier session and open its conversation.
#include "cli/known_session.h"
#include "cli/sessions/picker.h"
#include "cli/sessions/session_ids.h"
#include "cli/verbs.h"

namespace agentrt::cli {

int resume_session(Context& context, const ResumeArguments& arguments) {
  std::optional<SessionId> chosen;
  const int code = with_runtime(
      context,
      [&](const Client& client, Signals& signals) -> Result<int> {
        TRY_ASSIGN(auto sessions, read_sessions(client));
        TRY_ASSIGN(chosen,
                   pick_session(context.output, signals,
                                picker_rows(std::move(sessions), context.cwd, now_of_clock()),
                                arguments.search));
        return chosen ? kExitDone : kExitInterrupted;
      },
      Repeat::never);
  if (!chosen) return code;
  ChatArguments opened;
  opened.session = chosen->text();
  opened.model = arguments.model;
  opened.mode = arguments.mode;
  opened.sandbox = arguments.sandbox;
  opened.plain = arguments.plain;
  return chat(context, opened);
}

}  // namespace agentrt::cli
