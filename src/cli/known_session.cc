#include "cli/known_session.h"

#include <fmt/format.h>

#include "schema/commands.h"

namespace agentrt::cli {

std::string other_folder(std::string_view session, std::string_view its, std::string_view current) {
  return fmt::format("session {} belongs to {}; its turns work there, not in {}", session, its,
                     current);
}

Result<KnownSession> look_up(const Client& client, const std::optional<SessionId>& session) {
  KnownSession known;
  if (!session) return known;
  schema::GetSession params;
  params.session_id = *session;
  params.limit = 1;
  const auto reply = client.call("get_session", schema::to_json(params));
  if (!reply && reply.error().code == Code::not_found) return known;
  if (!reply) return std::unexpected(reply.error());
  TRY(schema::from_json(*reply, known, schema::Unknown::ignore));
  return known;
}

ThreadId thread_to_use(const KnownSession& known) {
  const ThreadId main{std::string(kMainThread)};
  for (const KnownThread& thread : known.threads)
    if (thread.thread_id == main) return main;
  return known.history.empty() ? main : known.history.front().thread_id;
}

ThreadId thread_at_work(const KnownSession& known) {
  const ThreadId usual = thread_to_use(known);
  std::optional<ThreadId> busy;
  for (const KnownThread& thread : known.threads) {
    if (!thread.active_turn_id) continue;
    if (thread.thread_id == usual) return usual;
    if (!busy) busy = thread.thread_id;
  }
  return busy.value_or(usual);
}

Result<std::optional<OpenTurn>> open_turn(const Client& client, const SessionId& session,
                                          const ThreadId& thread) {
  const schema::GetThreadRead params{session, thread};
  const auto reply = client.call("get_thread_read", schema::to_json(params));
  if (!reply && reply.error().code == Code::not_found) return std::nullopt;
  if (!reply) return std::unexpected(reply.error());
  schema::ThreadRead read;
  TRY(schema::from_json(*reply, read, schema::Unknown::ignore));
  if (!read.active_turn) return std::nullopt;
  OpenTurn open;
  open.turn = {session, thread, read.active_turn->turn_id};
  open.before = read.active_turn->first_sequence > 0 ? read.active_turn->first_sequence - 1 : 0;
  open.stands = read.status == schema::Status::blocked ||
                read.status == schema::Status::waiting_permission ||
                read.status == schema::Status::waiting_input;
  open.resumable = read.status == schema::Status::blocked && read.resumable.value_or(false);
  open.no_model = read.status == schema::Status::blocked && read.status_reason == "no_model";
  return open;
}

Result<void> resume(const Client& client, const FollowedTurn& turn) {
  schema::ResumeThread params;
  params.session_id = turn.session;
  params.thread_id = turn.thread;
  TRY(client.call("resume_thread", schema::to_json(params)));
  return {};
}

Result<void> interrupt(const Client& client, const FollowedTurn& turn) {
  schema::InterruptTurn params;
  params.session_id = turn.session;
  params.thread_id = turn.thread;
  params.turn_id = turn.turn;
  TRY(client.call("interrupt_turn", schema::to_json(params)));
  return {};
}

}  // namespace agentrt::cli
