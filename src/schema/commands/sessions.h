// schema/commands/sessions.h: commands that create, change and read sessions.
#pragma once

#include "schema/command.h"
#include "schema/snapshots.h"

namespace agentrt::schema {

// The reply to create_session and update_session.
struct SessionReply {
  SessionId session_id;
  std::optional<std::string> title;
  std::string cwd;
  bool archived = false;
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(SessionReply, (), (session_id, title, cwd, archived, sequence))

struct CreateSession {
  static constexpr CommandTraits kTraits{"create_session", TokenScope::submit,
                                         CommandEffect::mutates};
  using Reply = SessionReply;
  std::optional<SessionId> session_id;
  std::optional<std::string> title;
  std::optional<std::string> cwd;
  std::optional<std::vector<std::string>> additional_roots;
  std::optional<Json> metadata;
  std::optional<std::string> idempotency_key;

  bool operator==(const CreateSession&) const = default;
};
BOOST_DESCRIBE_STRUCT(CreateSession, (),
                      (session_id, title, cwd, additional_roots, metadata, idempotency_key))

struct UpdateSession {
  static constexpr CommandTraits kTraits{"update_session", TokenScope::submit,
                                         CommandEffect::mutates};
  using Reply = SessionReply;
  SessionId session_id;
  std::optional<std::string> title;
  std::optional<Json> metadata;
  std::optional<bool> archived;
  std::optional<std::string> idempotency_key;

  bool operator==(const UpdateSession&) const = default;
};
BOOST_DESCRIBE_STRUCT(UpdateSession, (), (session_id, title, metadata, archived, idempotency_key))

// created: newest session first. updated: by the last change of the summary, newest first.
BOOST_DEFINE_ENUM_CLASS(SessionOrder, created, updated)

inline constexpr std::size_t kSessionTextBytesMax = 256;

struct ListSessions {
  static constexpr CommandTraits kTraits{"list_sessions", TokenScope::read, CommandEffect::reads};
  std::optional<std::uint64_t> limit;
  std::optional<std::string> cursor;
  std::optional<bool> include_system;
  std::optional<SessionOrder> order = {};
  std::optional<std::vector<Status>> status = {};  // only sessions with one of these
  // Only sessions whose id, title, folder or preview contains it; case does not matter.
  std::optional<std::string> text = {};

  bool operator==(const ListSessions&) const = default;
};
BOOST_DESCRIBE_STRUCT(ListSessions, (), (limit, cursor, include_system, order, status, text))

struct GetSession {
  static constexpr CommandTraits kTraits{"get_session", TokenScope::read, CommandEffect::reads};
  using Reply = SessionSnapshot;
  SessionId session_id;
  std::optional<std::string> cursor;
  std::optional<std::uint64_t> limit;
  std::optional<ThreadId> thread_id = {};          // history of this thread alone
  std::optional<std::string> threads_cursor = {};  // of the previous reply: older threads
  std::optional<Sequence> at_sequence = {};  // the reply as it was when this fact was the last one

  bool operator==(const GetSession&) const = default;
};
BOOST_DESCRIBE_STRUCT(GetSession, (),
                      (session_id, cursor, limit, thread_id, threads_cursor, at_sequence))

struct GetThreadRead {
  static constexpr CommandTraits kTraits{"get_thread_read", TokenScope::read, CommandEffect::reads};
  using Reply = ThreadRead;
  SessionId session_id;
  ThreadId thread_id;
  std::optional<Sequence> at_sequence = {};  // as in GetSession

  bool operator==(const GetThreadRead&) const = default;
};
BOOST_DESCRIBE_STRUCT(GetThreadRead, (), (session_id, thread_id, at_sequence))

struct ListEvents {
  static constexpr CommandTraits kTraits{"list_events", TokenScope::read, CommandEffect::reads};
  SessionId session_id;
  std::optional<Sequence> after;
  std::optional<std::uint64_t> limit;
  std::optional<std::vector<std::string>> types;
  std::optional<GenerationId> generation;

  bool operator==(const ListEvents&) const = default;
};
BOOST_DESCRIBE_STRUCT(ListEvents, (), (session_id, after, limit, types, generation))

}  // namespace agentrt::schema
