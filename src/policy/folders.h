// policy/folders.h: in which folders a session may be opened, and by whom.
//
// A folder is a grant: what a session's commands may write and its file tools may read. Without
// scope approve a caller gets the daemon's workspace and the configured roots. Folders of the
// system and of other users nobody gets, unless the managed configuration lists them.
//
// PURE: paths are compared by their names. The caller resolves symlinks first. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/folders.h"

namespace agentrt::policy {

// What the judgement is based on. Every path is absolute, normal and without symlinks.
struct FolderRules {
  std::string workspace;                 // the daemon's own
  std::vector<std::string> granted;      // [sandbox] roots of the user's configuration
  std::vector<std::string> managed;      // the same of the managed one
  std::vector<std::string> own;          // the data folder and those of the configuration
  std::vector<std::string> homes;        // of the daemon's user
  std::vector<std::string> other_homes;  // of other users
};

enum class FolderUse { workspace, additional };

struct AskedFolder {
  FolderUse use = FolderUse::workspace;
  std::string given;  // as the caller wrote it
  std::string real;   // without symlinks
};

// Why the text cannot be the path of a folder; `member` is the command's member that holds it.
std::optional<Error> wrong_folder(std::string_view member, std::string_view path);
std::optional<Error> wrong_folders(std::string_view prefix, const schema::FolderChoice& choice);

// Why a session may not be opened there: forbidden, with a sentence that names the folder.
std::optional<Error> refused_folder(const FolderRules& rules, const schema::FolderGrant& grant,
                                    const AskedFolder& asked);

// The home folders of users other than `uid` in the text of /etc/passwd, without those of services.
std::vector<std::string> homes_of_others(std::string_view passwd, unsigned uid);
// The home folder of `uid` there.
std::optional<std::string> home_of(std::string_view passwd, unsigned uid);

}  // namespace agentrt::policy
