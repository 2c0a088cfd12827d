// schema/commands.h: every command that this build accepts.
//
// To add a command, declare its params (and reply) in commands/ and add it to the list below. The
// compiler then asks for the rest: a row in admission.cc and a decision in control/decide.cc for a
// command that changes something, a read() in kernel/read_commands.h for one that only reads.
// Codec, schema, routes and scopes are derived.
#pragma once

#include <string_view>
#include <vector>

#include "base/sum.h"
#include "schema/commands/actions.h"
#include "schema/commands/channels.h"
#include "schema/commands/history.h"
#include "schema/commands/jobs.h"
#include "schema/commands/look_ups.h"
#include "schema/commands/processes.h"
#include "schema/commands/sessions.h"
#include "schema/commands/subagents.h"
#include "schema/commands/task_reads.h"
#include "schema/commands/tasks.h"
#include "schema/commands/tools.h"
#include "schema/commands/turns.h"

namespace agentrt::schema {

using CommandTypes =
    TypeList<CreateSession, UpdateSession, ListSessions, GetSession, GetThreadRead, ListEvents,
             SubmitTurn, InterruptTurn, ResumeThread, RemoveQueuedTurn, PromoteQueuedTurn,
             RespondAction, ResolvePermission, ListActions, EvaluatePermission, SetPolicy, GetRules,
             SetFolderPolicy, GetTrust, TrustWorkspace, GetToolInventory, GetExecutionEnvironment,
             WriteProcessStdin, ResizeProcess, TerminateProcess, CreateTask, UpdateTask, StartTask,
             RetryTask, ClaimTask, AppendTaskProgress, CompleteTask, FailTask, PauseTask,
             ResumeTask, ArchiveTask, CancelTask, LinkTasks, UnlinkTasks, GetTask, ListTasks,
             CreateJob, GetJob, ListJobs, CancelJob, RetryJobItem, SpawnSubagent, SendSubagentInput,
             WaitSubagents, ResumeSubagent, CloseSubagent, ListSubagents, GetReadModel, GetTurn,
             FindObject, CompactThread, ForkThread, RollbackThread, ConnectChannel,
             ReconnectChannel, AckEvents, DisconnectChannel, SendChannelMessage, LinkPeerTask,
             UpdatePeerTask, ListChannels>;
using Command = Sum<CommandTypes>;

const CommandTraits& traits_of(const Command& command);
const std::vector<CommandTraits>& known_commands();
const CommandTraits* find_command(std::string_view name);

// Validates and decodes the params of the command `name`. Fails with not_found for an unknown name,
// and with invalid_params and the member's path for invalid params.
Result<Command> read_command(std::string_view name, std::string_view params);

// The session that a command names, if any.
std::optional<SessionId> session_of(const Command& command);
// The caller's idempotency key. canonical_params() is the canonical encoding of the params without
// the key: two commands with the same key must agree on it.
std::optional<std::string> idempotency_key_of(const Command& command);
std::string canonical_params(const Command& command);

inline constexpr std::size_t kIdempotencyKeySizeMax = 256;

}  // namespace agentrt::schema
