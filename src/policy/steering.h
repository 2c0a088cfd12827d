// policy/steering.h: files of a workspace that other programs run or obey: hooks of git, tasks of
// editors, workflows, what agents are told. Whoever writes one decides what happens later, outside
// of any sandbox, so where no rule speaks a person is asked. One list for file tools and for shell
// texts.
//
// PURE. Safe on any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/shell/analysis.h"

namespace agentrt::policy {

// Where the words of a text start from, all absolute.
struct Ground {
  std::string cwd;
  std::string workspace;
  std::string home;
};

// Whether the file is one of them, or stands in a folder of them. The path is normal; of one in the
// workspace, what leads to the workspace does not matter.
bool is_steering_path(std::string_view path, std::string_view workspace);

// The word of a command which names such a file, or may name one, in a text of commands that change
// files: as a sentence about it. Nothing: it writes none, as far as its words tell.
std::optional<std::string> find_steering(const shell::Analysis& analysis, const shell::Part& part,
                                         const Ground& ground);

}  // namespace agentrt::policy
