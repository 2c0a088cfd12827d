// tools/spawn_subagent.h: the tool `spawn_subagent`: starts another agent on work of its own.
#pragma once

#include "tools/tool.h"

namespace agentrt::tools {

struct SpawnSubagentArgs {
  static constexpr bool kFromModel = true;

  std::string role;
  std::string prompt;
  std::optional<std::string> nickname;
  std::optional<std::string> model;

  bool operator==(const SpawnSubagentArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(SpawnSubagentArgs, (), (role, prompt, nickname, model))

inline constexpr schema::Argument kSpawnSubagentArguments[] = {
    {"role", R"("minLength":1,"maxLength":256)",
     "What the subagent is, in a few words, such as reviewer or test writer."},
    {"prompt", kNotEmpty,
     "The complete task. The subagent sees this text and the workspace, but nothing of this "
     "conversation: name the files, the goal, and what to report back."},
    {"nickname", R"("minLength":1,"maxLength":256)",
     "A short name to tell subagents of the same role apart. Default: none."},
    {"model", R"("minLength":1,"maxLength":256)",
     "The configured name of the model that the subagent uses. Default: the same model as yours."},
};

inline constexpr ToolSpec kSpawnSubagent = {
    .name = "spawn_subagent",
    .description =
        "Starts a subagent: another agent that works in the same workspace, in parallel to you, "
        "with at most your permissions. Use it for work that is separate from yours, such as a "
        "review, research in many files, or an independent part of a larger task. Returns at once "
        "with the subagentId; get the result with wait_subagents. Fails if too many subagents are "
        "running or if you are a subagent at the greatest depth.",
    .arguments = kSpawnSubagentArguments,
    .runs = Runner::agent,
    .access = Access::execute,
    .verb = "spawn",
    .claude = {{"Task", "Agent"}},
};

inline std::string object(const SpawnSubagentArgs& args) {
  return args.role + (args.nickname ? " " + *args.nickname : "") + ": " + args.prompt;
}
inline std::string subject(const SpawnSubagentArgs& args) {
  return "role: " + args.role + (args.nickname ? "\nnickname: " + *args.nickname : "") +
         (args.model ? "\nmodel: " + *args.model : "") + "\nprompt: " + args.prompt;
}
inline AgentCall agent_call(const SpawnSubagentArgs& args) {
  return SpawnCall{args.role, args.prompt, args.nickname, args.model};
}

}  // namespace agentrt::tools
