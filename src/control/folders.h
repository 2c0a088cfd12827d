// control/folders.h: the folders of a session that a command creates or continues.
#pragma once

#include "control/decide.h"

namespace agentrt::control {

// Why the command cannot have the folders that it names (`prefix` is where its members are): their
// text is wrong, the session has others, or the caller may not open a session there. A command that
// names the session's own folders chooses nothing and is never refused for them.
std::optional<Error> wrong_folders(const state::Session& view, std::string_view prefix,
                                   const schema::FolderChoice& asked, const Inputs& inputs);

// The folders of the session that the command creates, without symlinks.
schema::FolderChoice folders_of_new(const schema::FolderChoice& asked, const Inputs& inputs);

}  // namespace agentrt::control
