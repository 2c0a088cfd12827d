// cli/acp/acp.cc: `agentrt acp`: the runtime as an agent for editors (Agent Client Protocol).
#include "cli/acp/agent.h"
#include "cli/verbs.h"

namespace agentrt::cli {

int serve_acp(Context& context) {
  if (context.output.screen().in_terminal)
    context.output.note(
        "This speaks the Agent Client Protocol on standard input. Configure it in an editor as the "
        "command: agentrt acp");
  Signals signals;
  auto attachment = attach_plainly(context, signals);
  if (!attachment)
    return signals.count() > 0 ? kExitInterrupted : context.output.problem(attachment.error());
  AcpAgent agent(context, *attachment);
  Result<void> opened = agent.open();
  const Result<int> done = opened ? agent.run(signals) : std::unexpected(opened.error());
  if (!done && signals.count() > 0) return kExitInterrupted;
  return done ? *done : context.output.problem(done.error());
}

}  // namespace agentrt::cli
