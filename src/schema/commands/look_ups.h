// schema/commands/look_ups.h: commands that read one model, one turn, or find an object by its id.
#pragma once

#include <array>
#include <string_view>

#include "schema/command.h"
#include "schema/snapshots.h"

namespace agentrt::schema {

inline constexpr std::array<std::string_view, 13> kReadModelNames{"session_snapshot",
                                                                  "thread_read_model",
                                                                  "tool_inventory_snapshot",
                                                                  "queue_snapshot",
                                                                  "task_snapshot",
                                                                  "context_boundary_snapshot",
                                                                  "artifact_checkpoint_summary",
                                                                  "evidence_summary",
                                                                  "permission_sandbox_summary",
                                                                  "execution_environment_snapshot",
                                                                  "routing_limit_summary",
                                                                  "subagent_job_summary",
                                                                  "channel_summary"};

// The reply is the model, an object with `asOfSequence` and `generation`.
struct GetReadModel {
  static constexpr CommandTraits kTraits{"get_read_model", TokenScope::read, CommandEffect::reads};
  using Reply = Json;
  SessionId session_id;
  std::string name;  // one of kReadModelNames
  std::optional<ThreadId> thread_id;
  std::optional<Sequence> at_sequence = {};  // as in GetSession

  bool operator==(const GetReadModel&) const = default;
};
BOOST_DESCRIBE_STRUCT(GetReadModel, (), (session_id, name, thread_id, at_sequence))

// A message, reasoning block or tool call of a turn.
struct ItemSnapshot {
  StepId step_id;
  ItemKind kind = ItemKind::agent_message;
  Status status = Status::running;  // until its item.completed
  std::optional<ToolCallId> tool_call_id;
  std::optional<std::string> tool_name;
  std::optional<std::string> text;
  std::optional<std::string> preview;
  std::optional<std::string> output_ref;
  std::optional<Failure> error;
  Sequence first_sequence = 0;  // of its item.started
  Timestamp started_at;
  std::optional<Timestamp> completed_at;

  bool operator==(const ItemSnapshot&) const = default;
};
BOOST_DESCRIBE_STRUCT(ItemSnapshot, (),
                      (step_id, kind, status, tool_call_id, tool_name, text, preview, output_ref,
                       error, first_sequence, started_at, completed_at))

// The reply to get_turn. `items` are in the order in which they started.
struct GetTurnReply {
  SessionId session_id;
  TurnSnapshot turn;
  std::vector<ItemSnapshot> items;
  std::optional<std::string> next_cursor;
};
BOOST_DESCRIBE_STRUCT(GetTurnReply, (), (session_id, turn, items, next_cursor))

struct GetTurn {
  static constexpr CommandTraits kTraits{"get_turn", TokenScope::read, CommandEffect::reads};
  using Reply = GetTurnReply;
  TurnId turn_id;
  std::optional<SessionId> session_id;
  std::optional<std::string> cursor;
  std::optional<std::uint64_t> limit;

  bool operator==(const GetTurn&) const = default;
};
BOOST_DESCRIBE_STRUCT(GetTurn, (), (turn_id, session_id, cursor, limit))

// Where an object is: its session, and the thread and turn of the fact at `sequence`, if it has
// them.
struct FoundObject {
  std::string kind;
  SessionId session_id;
  std::optional<ThreadId> thread_id;
  std::optional<TurnId> turn_id;
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(FoundObject, (), (kind, session_id, thread_id, turn_id, sequence))

struct FindObject {
  static constexpr CommandTraits kTraits{"find_object", TokenScope::read, CommandEffect::reads};
  using Reply = FoundObject;
  std::string id;
  std::optional<SessionId> session_id;

  bool operator==(const FindObject&) const = default;
};
BOOST_DESCRIBE_STRUCT(FindObject, (), (id, session_id))

}  // namespace agentrt::schema
