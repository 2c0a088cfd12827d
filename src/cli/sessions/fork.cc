// cli/sessions/fork.cc: `agentrt fork`: starts a thread that continues a conversation from the end
// of one of its turns.
#include <fmt/format.h>

#include "cli/known_session.h"
#include "cli/verbs.h"
#include "schema/commands.h"

namespace agentrt::cli {
int fork_thread(Context& context, const ForkArguments& arguments) {
  return with_runtime(context, [&](const Client& client, Signals&) -> Result<int> {
    schema::ForkThread params;
    params.session_id = SessionId{arguments.session};
    TRY_ASSIGN(params.thread_id,
               thread_of(client, params.session_id, arguments.thread, arguments.turn));
    if (arguments.turn) params.turn_id = TurnId{*arguments.turn};
    if (arguments.new_session) params.new_session_id = SessionId{*arguments.new_session};
    params.idempotency_key = own_key("fork");
    TRY_ASSIGN(const std::string text, client.call("fork_thread", schema::to_json(params)));
    if (context.form() == Form::json) {
      print_json(context, text);
      return kExitDone;
    }
    schema::ForkThreadReply reply;
    TRY(schema::from_json(text, reply, schema::Unknown::ignore));
    context.output.out(fmt::format(
        "session {}: thread {} continues thread {} after turn {}\n"
        "Continue there with: agentrt run --session {} --thread {} \"PROMPT\"\n",
        reply.session_id.text(), reply.thread_id.text(), reply.forked_from.thread_id.text(),
        reply.forked_from.turn_id.text(), reply.session_id.text(), reply.thread_id.text()));
    return kExitDone;
  });
}

}  // namespace agentrt::cli
