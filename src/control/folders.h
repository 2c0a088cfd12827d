// control/folders.h: validates the folders that a command names for a session.
#pragma once

#include "control/decide.h"

namespace agentrt::control {

// Why the command may not use the folders it names: their text is invalid, the session has other
// folders, or the caller may not open a session there. `prefix` is the path of these members in the
// command. A command that names the session's own folders is never refused.
std::optional<Error> wrong_folders(const state::Session& view, std::string_view prefix,
                                   const schema::FolderChoice& asked, const Inputs& inputs);

// The folders of the session that the command creates, with symlinks resolved.
schema::FolderChoice folders_of_new(const schema::FolderChoice& asked, const Inputs& inputs);

}  // namespace agentrt::control
