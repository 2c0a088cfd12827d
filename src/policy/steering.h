// policy/steering.h: steering files are files of a workspace that other programs execute or obey:
// git hooks, editor tasks, workflows, instructions for agents. Writing one decides what happens
// later, outside any sandbox. So without a matching rule the user is asked. File tools and shell
// texts use the same list.
//
// PURE. Safe on any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/shell/analysis.h"

namespace agentrt::policy {

// The folders that relative words of a text refer to; all absolute.
struct Ground {
  std::string cwd;
  std::string workspace;
  std::string home;
};

// Whether the path is a steering file or is in a steering folder. The path is normal (paths.h). For
// a path in the workspace only the part below the workspace is tested.
bool is_steering_path(std::string_view path, std::string_view workspace);

// Whether a command that changes files names, or may name, a steering file. Returns a sentence
// about that word; nullopt: none was found.
std::optional<std::string> find_steering(const shell::Analysis& analysis, const shell::Part& part,
                                         const Ground& ground);

}  // namespace agentrt::policy
