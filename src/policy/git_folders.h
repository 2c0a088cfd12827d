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

// Patterns, relative to a git folder, in the language of launcher/guarded/names.h.
const std::vector<std::string>& written_in_git_folders();

struct GitSetting {
  std::string key;  // section.name or section.subsection.name; section and name in lower case
  std::string value;

  bool operator==(const GitSetting&) const = default;
};

// The settings of a git configuration file, in order. What cannot be parsed is skipped.
std::vector<GitSetting> git_settings(std::string_view text);

// Git or a tool beside it runs what the value names, or reads further settings from there.
bool names_a_program(const GitSetting& setting);

// The keys of a configuration file that name programs, each once.
std::vector<std::string> programs_named(std::string_view text);

// A plan of an interactive rebase holds a command, which `git rebase --continue` runs.
bool plans_a_command(std::string_view rebase_todo);

// Files and folders ("/" at the end) of a workspace that programs of the user obey, beside git's
// own. Commands may write them; a change is reported.
std::span<const std::string_view> obeyed_in_workspace();

}  // namespace agentrt::policy
