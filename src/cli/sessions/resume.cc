// cli/sessions/resume.cc: `agentrt resume`: choose an earlier session and continue it.
#include <fmt/format.h>

#include "cli/decisions/keyboard.h"
#include "cli/known_session.h"
#include "cli/sessions/picker.h"
#include "cli/sessions/session_ids.h"
#include "cli/verbs.h"
#include "cli/views/layout.h"
#include "schema/commands.h"

namespace agentrt::cli {
namespace {

// What the person decided: the session, and the prompt unless its open turn is resumed.
struct Choice {
  SessionId session;
  std::optional<std::string> prompt;
};

// How the newest turn of the session began and ended, for a person who comes back to it.
Result<std::string> last_exchange(const Client& client, const SessionId& session, Paper paper) {
  schema::GetSession params;
  params.session_id = session;
  params.limit = 1;
  TRY_ASSIGN(const std::string reply, client.call("get_session", schema::to_json(params)));
  schema::SessionSnapshot snapshot;
  TRY(schema::from_json(reply, snapshot, schema::Unknown::ignore));
  std::string out = paint("session " + session.text(), Paint::bold, paper.colour) + "\n";
  if (snapshot.history.empty()) return out;
  schema::TurnSnapshot turn;
  TRY(schema::from_json(snapshot.history.front().text, turn, schema::Unknown::ignore));
  add_paragraph(out, "> " + one_line(turn.input_preview), Paint::plain, paper);
  if (turn.output_preview) add_paragraph(out, one_line(*turn.output_preview), Paint::dim, paper);
  if (turn.error) add_paragraph(out, "failed: " + one_line(turn.error->message), Paint::red, paper);
  return out;
}

// Shows where the session stopped, and asks for the next prompt. False: the person left.
Result<bool> ask_prompt(Context& context, const Client& client, Signals& signals, Choice& choice) {
  TRY_ASSIGN(const KnownSession known, look_up(client, choice.session));
  TRY_ASSIGN(const auto open, open_turn(client, choice.session, thread_at_work(known)));
  if (open) return true;
  const Screen& screen = context.output.screen();
  TRY_ASSIGN(
      const std::string last,
      last_exchange(client, choice.session, {terminal_width(screen.width), screen.err_colour}));
  const auto line = ask_line(context.output, signals, last + "> ");
  if (!line || line->empty()) return false;
  choice.prompt = *line;
  return true;
}

}  // namespace

int resume_session(Context& context, const ResumeArguments& arguments) {
  std::optional<Choice> choice;
  const int code = with_runtime(
      context,
      [&](const Client& client, Signals& signals) -> Result<int> {
        TRY_ASSIGN(auto sessions, read_sessions(client));
        TRY_ASSIGN(const auto picked,
                   pick_session(context.output, signals,
                                picker_rows(std::move(sessions), context.cwd, now_of_clock()),
                                arguments.search));
        if (!picked) return kExitInterrupted;
        Choice made{*picked, {}};
        TRY_ASSIGN(const bool goes_on, ask_prompt(context, client, signals, made));
        if (!goes_on) return kExitInterrupted;
        choice = std::move(made);
        return kExitDone;
      },
      Repeat::never);
  if (!choice) return code;
  RunArguments run;
  run.session = choice->session.text();
  run.prompt = choice->prompt;
  if (run.prompt) run.model = arguments.model;
  return run_turn(context, run);
}

}  // namespace agentrt::cli
