// policy/git_folders.h: what commands may write in a git folder, and which settings run programs.
//
// Git obeys most files of a git folder (config, hooks, commondir, info/attributes …), and it does
// so for the user, outside any sandbox. So in a sandbox a git folder is read-only except for the
// names listed here, which ordinary work writes and which name no program. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace agentrt::policy {

// The names in a git folder that commands may write: patterns as in launcher/guarded/names.h.
const std::vector<std::string>& written_in_git_folders();

struct GitSetting {
  std::string key;  // section.name or section.subsection.name; section and name in lower case
  std::string value;

  bool operator==(const GitSetting&) const = default;
};

// The settings of a git configuration file, in order. What cannot be parsed is skipped.
std::vector<GitSetting> git_settings(std::string_view text);

// Whether git or a related tool runs the program that the value names, or reads more settings from
// there.
bool names_a_program(const GitSetting& setting);

// The keys of a configuration file that name programs, each once.
std::vector<std::string> programs_named(std::string_view text);

// Whether the todo list of an interactive rebase contains a command for `git rebase --continue`.
bool plans_a_command(std::string_view rebase_todo);

// Files and folders (trailing "/") of a workspace that configure the user's programs, other than
// git's. Commands in the sandbox may write them; after a command, changes are reported. (The list
// of steering.h is another one: there the user is asked before the call.)
std::span<const std::string_view> obeyed_in_workspace();

}  // namespace agentrt::policy
