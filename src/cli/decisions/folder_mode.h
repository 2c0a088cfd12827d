// cli/decisions/folder_mode.h: how commands run in a folder, as a person chose it once.
//
// The runtime keeps the choice outside the workspace, per folder. It counts for turns that name no
// mode, where no configuration file sets one.
#pragma once

#include <string>

#include "cli/client.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "schema/commands/actions.h"

namespace agentrt::cli {

Result<schema::RulesReply> read_rules(const Client& client, const schema::GetRules& query);

// Keeps `mode` for the folder. conflict: a configuration file sets the mode there.
Result<void> set_folder_mode(const Client& client, const std::string& folder,
                             schema::PermissionMode mode);

// Whether nobody chose a mode for the folder, and no file sets one.
Result<bool> lacks_folder_mode(const Client& client, const std::string& folder);
// Asks how commands should run in the folder. nullopt: no answer (end of input, a signal).
std::optional<schema::PermissionMode> choose_folder_mode(Output& output, Signals& signals,
                                                         const std::string& folder);
// "kept for this folder: …": says what was chosen and how to change it.
std::string kept_mode_text(schema::PermissionMode mode);

// Asks how commands should run in the folder, if nobody chose that before and no file does. The
// answer is kept. Without an answer (end of input, a signal) nothing is kept, and the turn asks
// each time.
Result<void> ask_folder_mode(const Client& client, Output& output, Signals& signals,
                             const std::string& folder);

}  // namespace agentrt::cli
