// schema/admission.h: what a command names, and what the kernel must look up before it decides it.
//
// The table in admission.cc has one row per command; a mutating command without a row does not
// compile. The kernel admits every command by its row, and authorization uses the same row to tell
// which commands a token that is bound to a session may give without naming the session.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schema/commands.h"
#include "schema/folders.h"

namespace agentrt::schema {

// The session on whose lane a mutating command is decided.
enum class LaneChoice {
  named,   // the session that the command names; it has to name one
  opened,  // the session that the command names or, if it names none, a new session
  system,  // the runtime's own session
  owner,   // the session that owns AdmissionPlan::object
  beside,  // none: what the command stores about AdmissionPlan::object is not in the log
};

// The kinds of objects that are found by their id alone. A kind needs one row in
// kernel/admission.cc, which says where it is found and what the decision needs of it.
enum class ObjectKind { action, process, task, job, subagent, channel };

struct NamedObject {
  ObjectKind kind;
  std::string id;

  bool operator==(const NamedObject&) const = default;
};

struct AdmissionPlan {
  LaneChoice lane = LaneChoice::named;
  // With LaneChoice::owner. A session that the command names beside it must be the owner.
  std::optional<NamedObject> object = {};
  // Ids that the caller chose for new objects. They are claimed, so that two commands cannot both
  // find one unused, and looked up over all sessions.
  std::optional<TurnId> new_turn = {};
  std::optional<TaskId> new_task = {};
  // Existing tasks that the decision reads, with their ancestors. They are read when the command
  // reaches the front of its lane.
  std::vector<TaskId> tasks = {};
  std::optional<SubagentId> new_subagent = {};
  // An existing turn of the session. A view holds only recent turns, so it is looked up.
  std::optional<TurnId> turn = {};
  // Outputs that must belong to the session.
  std::vector<std::string> outputs = {};
  // The folders of the session that the command may create.
  std::optional<FolderChoice> folders = {};
  // The folder whose files a read command reads for its answer.
  std::optional<std::string> reads_folder = {};
  // The id that the caller chose for a new job; claimed and looked up like the others.
  std::optional<JobId> new_job = {};
  // The same for a new channel.
  std::optional<ChannelId> new_channel = {};
  // The command names the input of a new job, which is checked and stored.
  bool checks_items = false;
  // The session that the command creates, on whose lane it is decided. What it continues is read
  // from the session that the command names.
  std::optional<SessionId> new_session = {};
  // The caller chose the id of the new object. Only the hash of the params then tells a repetition
  // from another command with the same id.
  bool id_chosen = false;

  bool operator==(const AdmissionPlan&) const = default;
};

AdmissionPlan plan_admission(const Command& command);

}  // namespace agentrt::schema
