#include "state/index.h"

#include <variant>

#include "schema/outputs.h"
#include "state/read_models.h"

namespace agentrt::state {
namespace {

using namespace schema;

ObjectRow session_row(const Session& session) {
  return {.kind = "session",
          .id = session.id.text(),
          .parent = {},
          .first = 1,
          .status = std::string(name_of(overall_status(session))),
          .open = false,
          .record = to_json(session_summary(session))};
}

ObjectRow turn_row(const Turn& turn) {
  return {.kind = "turn",
          .id = turn.ids.turn.text(),
          .parent = turn.ids.thread.text(),
          .first = turn.submitted,
          .status = std::string(name_of(turn.status)),
          .open = !ended(turn.status),
          .record = to_json(turn_snapshot(turn))};
}

ObjectRow task_row(const Session& session, const Turn& turn) {
  const TaskSnapshot task = task_snapshot(session.id, turn);
  return {.kind = "task",
          .id = turn.ids.task.text(),
          .parent = turn.ids.thread.text(),
          .first = turn.submitted,
          .status = std::string(name_of(task.status)),
          .open = false,  // the turn's row stands for the open work
          .record = to_json(task)};
}

// Whether the fact changes what a turn's row says.
bool turns_row_changes(const Payload& payload) {
  return std::visit(
      []<class P>(const P& p) {
        if constexpr (std::is_same_v<P, RunStatus>)
          return p.status == Status::blocked || p.status == Status::preparing;
        else
          return std::is_same_v<P, TurnSubmitted> || std::is_same_v<P, TurnCompleted> ||
                 std::is_same_v<P, TurnFailed>;
      },
      payload);
}

// An output's row follows from the fact alone: views hold no outputs.
ObjectRow output_row(const OutputSpilled& spilled, const Fact& fact) {
  const OutputRecord record{.output_ref = spilled.output_ref,
                            .size = spilled.size,
                            .digest = spilled.digest.value_or(""),
                            .media_type = spilled.media_type,
                            .encoding = spilled.encoding,
                            .truncated = spilled.truncated,
                            .redacted = spilled.redacted,
                            .spilled_at = fact.at,
                            .expires_at = spilled.expires_at};
  return {.kind = std::string(kOutputKind),
          .id = spilled.output_ref,
          .parent = {},
          .first = fact.sequence,
          .status = std::string(kOutputKept),
          .open = false,
          .record = to_json(record)};
}

ObjectRow expired_row(const OutputExpired& expired, const Fact& fact) {
  OutputRecord record;
  record.output_ref = expired.output_ref;
  record.size = expired.size.value_or(0);
  record.digest = expired.digest.value_or("");
  return {.kind = std::string(kOutputKind),
          .id = expired.output_ref,
          .parent = {},
          .first = expired.spilled_sequence.value_or(fact.sequence),
          .status = std::string(kOutputExpired),
          .open = false,
          .record = to_json(record)};
}

}  // namespace

std::vector<ObjectRow> index(const Session& session, const Fact& fact) {
  std::vector<ObjectRow> rows;
  if (const auto* spilled = std::get_if<OutputSpilled>(&fact.payload))
    return {output_row(*spilled, fact)};
  if (const auto* expired = std::get_if<OutputExpired>(&fact.payload))
    return {expired_row(*expired, fact)};
  const bool session_changes = std::holds_alternative<SessionCreated>(fact.payload) ||
                               std::holds_alternative<SessionUpdated>(fact.payload);
  const bool turn_changes = turns_row_changes(fact.payload);
  const Thread* thread = find_thread(session, fact.ids.thread_id);
  const Turn* turn = turn_changes && thread ? find_turn(*thread, fact.ids.turn_id) : nullptr;
  // A turn that ends while it waits changes nothing of what the session's row says.
  const bool waited = turn && ended(turn->status) && (!thread->last || turn != &*thread->last);
  if (session_changes || (turn_changes && !waited)) rows.push_back(session_row(session));
  if (turn) {
    rows.push_back(turn_row(*turn));
    rows.push_back(task_row(session, *turn));
  }
  return rows;
}

}  // namespace agentrt::state
