// cli/chat/chat_rollback.cc: /rollback and /undo. The first time, the command shows what would be
// removed and what remains; given again, it is performed.
#include <algorithm>

#include <fmt/format.h>

#include "cli/chat/chat.h"
#include "cli/sessions/rollback_text.h"
#include "schema/commands.h"

namespace agentrt::cli {

using schema::RestoreMode;

namespace {

Result<schema::RollbackThreadReply> reply_of(const Result<std::string>& reply) {
  if (!reply) return std::unexpected(reply.error());
  schema::RollbackThreadReply out;
  TRY(schema::from_json(*reply, out, schema::Unknown::ignore));
  return out;
}

// The turns of the conversation that have ended, newest first.
std::vector<schema::TurnSnapshot> ended_turns(const schema::SessionSnapshot& session) {
  std::vector<schema::TurnSnapshot> out;
  for (const schema::Json& row : session.history) {
    schema::TurnSnapshot turn;
    if (schema::from_json(row.text, turn, schema::Unknown::ignore) &&
        !turn.removed.value_or(false) && schema::ended(turn.status))
      out.push_back(std::move(turn));
  }
  return out;
}

}  // namespace

void Chat::roll_back(const std::string& turn) {
  if (!exists_) return hint("the session has no turns yet");
  if (turn.empty())
    return problem({Code::invalid_params,
                    "/rollback takes the id of the last turn to keep; agentrt show lists them.",
                    {}});
  schema::RollbackThread params;
  params.session_id = *session_;
  params.thread_id = thread_;
  params.turn_id = TurnId{turn};
  params.restore = RestoreMode::none;
  if (shown_rollback_ == params) return do_rollback(std::move(params));
  show_rollback(std::move(params));
}

void Chat::undo() {
  if (!exists_) return hint("the session has no turns yet");
  if (shown_rollback_ && shown_rollback_->restore == RestoreMode::files)
    return do_rollback(*shown_rollback_);
  schema::GetSession params;
  params.session_id = *session_;
  params.thread_id = thread_;
  courier_.call("get_session", schema::to_json(params),
                [this, generation = generation_](const Result<std::string>& reply) {
                  if (generation != generation_) return;
                  schema::SessionSnapshot session;
                  if (!reply) return problem(reply.error());
                  if (auto read = schema::from_json(*reply, session, schema::Unknown::ignore);
                      !read)
                    return problem(read.error());
                  undo_from(session);
                });
}

// Turns of the runtime, such as one that restored files, go with the one before them.
void Chat::undo_from(const schema::SessionSnapshot& session) {
  const auto turns = ended_turns(session);
  auto last = std::ranges::find_if(
      turns, [](const schema::TurnSnapshot& turn) { return turn.source != "system"; });
  if (last == turns.end()) return hint("there is no turn to take back");
  if (++last == turns.end())
    return hint("this is the first turn of the conversation; /new starts a new session");
  schema::RollbackThread params;
  params.session_id = *session_;
  params.thread_id = thread_;
  params.turn_id = last->turn_id;
  params.restore = RestoreMode::files;
  show_rollback(std::move(params));
}

void Chat::show_rollback(schema::RollbackThread params) {
  schema::RollbackThread preview = params;
  preview.restore = RestoreMode::preview;
  courier_.call("rollback_thread", schema::to_json(preview),
                [this, params = std::move(params),
                 generation = generation_](const Result<std::string>& text) {
                  if (generation != generation_) return;
                  const auto reply = reply_of(text);
                  if (!reply) return problem(reply.error());
                  if (removes_nothing(*reply)) return hint("there is nothing to remove");
                  print("\n" + rollback_text(*reply, paper().width, colour()));
                  say(params.restore == RestoreMode::files
                          ? "/undo again does it"
                          : fmt::format("/rollback {} again does it", params.turn_id.text()),
                      "· ");
                  shown_rollback_ = params;
                });
}

void Chat::do_rollback(schema::RollbackThread params) {
  shown_rollback_.reset();
  params.idempotency_key = fresh_key();
  courier_.call(
      "rollback_thread", schema::to_json(params),
      [this, turn = params.turn_id, generation = generation_](const Result<std::string>& text) {
        if (generation != generation_) return;
        const auto reply = reply_of(text);
        if (!reply) return problem(reply.error());
        if (reply->restore_turn_id) restores_.insert(*reply->restore_turn_id);
        say(fmt::format("the conversation continues after turn {}", turn.text()), "· ");
        see_to_question();
      });
}

// The user has seen and confirmed which files are restored: their questions are answered with yes.
bool Chat::allows_restore(const schema::ActionSnapshot& action) {
  if (!restores_.contains(action.turn_id)) return false;
  if (!restores_allowed_.insert(action.action_id).second) return true;
  schema::RespondAction params;
  params.action_id = action.action_id;
  params.decision = "allow";
  params.idempotency_key = fresh_key();
  courier_.call("respond_action", schema::to_json(params),
                [this](const Result<std::string>& reply) {
                  if (!reply && reply.error().code != Code::conflict) problem(reply.error());
                });
  return true;
}

}  // namespace agentrt::cli
