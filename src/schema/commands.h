// schema/commands.h: every command this build accepts.
//
// To add a command, declare its params (and reply) in commands/, name it in the list below and give
// it a decision in control/ or a read in kernel/; codec, schema, routes and scopes follow.
#pragma once

#include <string_view>
#include <vector>

#include "base/sum.h"
#include "schema/commands/actions.h"
#include "schema/commands/processes.h"
#include "schema/commands/sessions.h"
#include "schema/commands/tools.h"
#include "schema/commands/turns.h"

namespace agentrt::schema {

using CommandTypes =
    TypeList<CreateSession, UpdateSession, ListSessions, GetSession, GetThreadRead, ListEvents,
             SubmitTurn, InterruptTurn, ResumeThread, RemoveQueuedTurn, PromoteQueuedTurn,
             RespondAction, ResolvePermission, ListActions, EvaluatePermission, SetPolicy, GetTrust,
             TrustWorkspace, GetToolInventory, GetExecutionEnvironment, WriteProcessStdin,
             ResizeProcess, TerminateProcess>;
using Command = Sum<CommandTypes>;

const CommandTraits& traits_of(const Command& command);
const std::vector<CommandTraits>& known_commands();
const CommandTraits* find_command(std::string_view name);

// Checks and reads the params of the command called `name`: not_found for an unknown name,
// invalid_params with the member's path for anything wrong in them.
Result<Command> read_command(std::string_view name, std::string_view params);

// The session a command is about, where it names one.
std::optional<SessionId> session_of(const Command& command);
// The caller's key, and the params without it in one canonical spelling (what the key stands for).
std::optional<std::string> idempotency_key_of(const Command& command);
std::string canonical_params(const Command& command);

inline constexpr std::size_t kIdempotencyKeySizeMax = 256;

}  // namespace agentrt::schema
