// policy/folders.h: decides in which folders a client may open a session.
//
// A folder is a grant: the session's commands may write in it and its file tools may read it.
// Without scope approve, a client gets only the daemon's workspace and the configured roots. A
// client whose token is bound to a session gets only the folder of that token. Folders of the
// system and of other users are refused to all clients, unless the managed configuration lists
// them. The data and configuration folders of the runtime are refused always.
//
// PURE: paths are compared as text. The caller resolves symlinks first. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/folders.h"

namespace agentrt::policy {

// What the judgement is based on. Every path is absolute, normal and without symlinks.
struct FolderRules {
  std::string workspace;                 // the daemon's workspace
  std::vector<std::string> granted;      // [sandbox] roots of the user's configuration
  std::vector<std::string> managed;      // [sandbox] roots of the managed configuration
  std::vector<std::string> own;          // the data folder and the configuration folders
  std::vector<std::string> homes;        // of the daemon's user
  std::vector<std::string> other_homes;  // of other users
};

enum class FolderUse { workspace, additional };

struct AskedFolder {
  FolderUse use = FolderUse::workspace;
  std::string given;  // as the caller wrote it
  std::string real;   // without symlinks
};

// Why the text cannot be the path of a folder; nullopt: it can. `member` is the name of the
// command's member, for the message.
std::optional<Error> wrong_folder(std::string_view member, std::string_view path);
// The same for every folder of a choice; `prefix` goes before the member names in the message.
std::optional<Error> wrong_folders(std::string_view prefix, const schema::FolderChoice& choice);

// The error `forbidden` with a sentence that names the folder, if a session may not be opened
// there.
std::optional<Error> refused_folder(const FolderRules& rules, const schema::FolderGrant& grant,
                                    const AskedFolder& asked);

// The name of the user `uid` in the text of /etc/passwd; nullopt: it is not listed.
std::optional<std::string> user_of(std::string_view passwd, unsigned uid);
// The home folders of users other than `uid` in the text of /etc/passwd, without those of services.
std::vector<std::string> homes_of_others(std::string_view passwd, unsigned uid);
// The home folder of `uid` in the text of /etc/passwd.
std::optional<std::string> home_of(std::string_view passwd, unsigned uid);

}  // namespace agentrt::policy
