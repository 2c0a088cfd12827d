#include "engine/processes.h"

#include <fmt/format.h>

namespace agentrt::engine {

ProcessId process_of(const state::ToolCall& call) {
  const std::string own = call.id.text().substr(call.id.text().find('_') + 1);
  const std::uint64_t number = 1 + call.never_ran + (call.stopped ? 1 : 0);
  return ProcessId{fmt::format("{}_{}{}", ProcessId::kPrefix, own,
                               number == 1 ? "" : fmt::format("_{}", number))};
}

std::string key_of(const ProcessId& process) { return "process " + process.text(); }

std::vector<Effect> follow_processes(const state::Session& view) {
  std::vector<Effect> effects;
  for (const auto& [id, process] : view.processes)
    effects.push_back({key_of(id), FollowProcess{.turn = process.turn.turn,
                                                 .call = process.call,
                                                 .process = id,
                                                 .tty = process.tty,
                                                 .out_shown = process.out_shown,
                                                 .err_shown = process.err_shown,
                                                 .started_at = process.started_at,
                                                 .timeout_ms = process.timeout_ms,
                                                 .ending = process.ending.has_value()}});
  return effects;
}

}  // namespace agentrt::engine
