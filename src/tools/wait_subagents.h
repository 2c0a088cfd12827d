// tools/wait_subagents.h: the tool `wait_subagents`: waits until subagents have finished.
#pragma once

#include <algorithm>

#include "tools/tool.h"

namespace agentrt::tools {

struct WaitSubagentsArgs {
  static constexpr bool kFromModel = true;

  std::optional<std::vector<std::string>> subagent_ids;
  std::optional<std::string> mode;
  std::optional<std::int64_t> timeout_ms;

  bool operator==(const WaitSubagentsArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(WaitSubagentsArgs, (), (subagent_ids, mode, timeout_ms))

inline constexpr std::int64_t kWaitCallDefaultMs = 600'000;
inline constexpr std::int64_t kWaitCallMaxMs = 3'600'000;

inline constexpr schema::Argument kWaitSubagentsArguments[] = {
    {"subagentIds", R"("items":{"type":"string","minLength":1},"minItems":1,"maxItems":64)",
     "The subagents to wait for: ids, or nicknames or roles that only one of yours has. Default: "
     "all of your subagents."},
    {"mode", R"("enum":["all","any"])",
     "all: wait until every one of them has finished; any: until one has. Default: all."},
    {"timeoutMs", R"("minimum":0,"maximum":3600000)",
     "Time limit in milliseconds, at most 3,600,000; 0 returns the present state. Default: "
     "600,000."},
};

inline constexpr ToolSpec kWaitSubagents = {
    .name = "wait_subagents",
    .description =
        "Waits for subagents that you started and returns, for each, its status (running, "
        "waiting_permission, waiting_input, blocked, completed, failed, cancelled or closed) and "
        "its last message, which is its result. If the time limit passes first, the call returns "
        "the present state with timedOut: true; the subagents keep running, and you can wait "
        "again.",
    .arguments = kWaitSubagentsArguments,
    .runs = Runner::agent,
    .access = Access::read,
    .verb = "wait for",
};

inline std::string object(const WaitSubagentsArgs& args) {
  if (!args.subagent_ids) return "subagents";
  std::string out;
  for (const std::string& id : *args.subagent_ids) out += (out.empty() ? "" : ", ") + id;
  return out;
}
inline AgentCall agent_call(const WaitSubagentsArgs& args) {
  return WaitCall{
      args.subagent_ids, args.mode == "any",
      std::clamp<std::int64_t>(args.timeout_ms.value_or(kWaitCallDefaultMs), 0, kWaitCallMaxMs)};
}

}  // namespace agentrt::tools
