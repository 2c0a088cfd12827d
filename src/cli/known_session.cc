#include "cli/known_session.h"

#include <fmt/format.h>

#include <algorithm>

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

namespace {

// The threads of the session that belong to no subagent.
std::vector<KnownThread> own_threads(const KnownSession& known) {
  std::vector<KnownThread> own = known.threads;
  std::erase_if(own, [&](const KnownThread& thread) {
    return std::ranges::find(known.subagents, thread.thread_id, &KnownChild::thread_id) !=
           known.subagents.end();
  });
  return own;
}

}  // namespace

ThreadId thread_to_use(const KnownSession& known) {
  const ThreadId main{std::string(kMainThread)};
  const std::vector<KnownThread> own = own_threads(known);
  const auto has = [&](const ThreadId& id) {
    return std::ranges::find(own, id, &KnownThread::thread_id) != own.end();
  };
  if (has(main) || own.empty()) return main;
  // The newest turn may be that of a subagent.
  const bool newest = !known.history.empty() && has(known.history.front().thread_id);
  return newest ? known.history.front().thread_id : own.front().thread_id;
}

Result<ThreadId> thread_of(const Client& client, const SessionId& session,
                           const std::optional<std::string>& thread,
                           const std::optional<std::string>& turn) {
  if (thread) return ThreadId{*thread};
  if (turn) {
    schema::GetTurn params;
    params.turn_id = TurnId{*turn};
    params.session_id = session;
    params.limit = 1;
    TRY_ASSIGN(const std::string text, client.call("get_turn", schema::to_json(params)));
    schema::GetTurnReply reply;
    TRY(schema::from_json(text, reply, schema::Unknown::ignore));
    return reply.turn.thread_id;
  }
  TRY_ASSIGN(const KnownSession known, look_up(client, session));
  return thread_to_use(known);
}

ThreadId thread_at_work(const KnownSession& known) {
  const ThreadId usual = thread_to_use(known);
  std::optional<ThreadId> busy;
  for (const KnownThread& thread : own_threads(known)) {
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
