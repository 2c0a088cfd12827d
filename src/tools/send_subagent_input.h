// tools/send_subagent_input.h: the tool `send_subagent_input`: gives a subagent further work.
#pragma once

#include "tools/tool.h"

namespace agentrt::tools {

struct SendSubagentInputArgs {
  static constexpr bool kFromModel = true;

  std::string subagent_id;
  std::string prompt;

  bool operator==(const SendSubagentInputArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(SendSubagentInputArgs, (), (subagent_id, prompt))

inline constexpr schema::Argument kSendSubagentInputArguments[] = {
    {"subagentId", R"("minLength":1,"maxLength":256)",
     "The subagent: its id, or a nickname or role that only one of yours has."},
    {"prompt", kNotEmpty,
     "What it is to do next. It remembers its earlier work. A subagent that is running begins with "
     "it when it has finished."},
};

inline constexpr ToolSpec kSendSubagentInput = {
    .name = "send_subagent_input",
    .description =
        "Gives a subagent that you started further work: a correction, a question about its "
        "result, or its next task. Returns at once; get the result with wait_subagents. Fails if "
        "the subagent was closed.",
    .arguments = kSendSubagentInputArguments,
    .runs = Runner::agent,
    .access = Access::execute,
    .verb = "tell",
};

inline std::string object(const SendSubagentInputArgs& args) {
  return args.subagent_id + ": " + args.prompt;
}
inline std::string subject(const SendSubagentInputArgs& args) {
  return "subagent: " + args.subagent_id + "\nprompt: " + args.prompt;
}
inline AgentCall agent_call(const SendSubagentInputArgs& args) {
  return InputCall{args.subagent_id, args.prompt};
}

}  // namespace agentrt::tools
