#include "state/calls.h"

#include <algorithm>

namespace agentrt::state {

using namespace schema;

namespace {

// An allow verdict applied to the old input, so a rewrite discards it. A rewrite after the
// evaluation restarts the evaluation, but only once: hooks that keep rewriting the call would never
// finish.
void rewrite(ToolCall& call, const HookCompleted& said) {
  if (call.args == *said.updated_input) return;
  call.args = *said.updated_input;
  call.wrong.reset();  // the MCP adapter validates them again
  std::erase_if(call.said, [](const Verdict& each) { return each.verdict == Decision::allow; });
  if (said.point != HookPoint::permission_request) return;
  if (call.rewritten_late)
    call.said.push_back({DecisionSource::hook, Decision::deny, std::nullopt,
                         "hooks changed the call again after it had been re-evaluated"});
  call.pre_hooks = call.permission_hooks = 0;
  call.rewritten_late = true;
}

}  // namespace

void hear_hook(ToolCall& call, const HookCompleted& said) {
  if (said.updated_input) rewrite(call, said);
  if (said.block.value_or(false) || !said.continue_.value_or(true))
    call.said.push_back({DecisionSource::hook, Decision::deny, std::nullopt, said.reason});
  else if (said.decision)
    call.said.push_back({DecisionSource::hook, *said.decision, std::nullopt, said.reason});
}

void answer_server(ToolCall& call, const ActionResolved& resolved) {
  const std::uint64_t number = call.answer ? call.answer->number + 1 : 1;
  const bool answered = resolved.decision == "accept" || resolved.decision == "decline";
  call.answer = ServerAnswer{number, answered ? resolved.decision : "cancel", resolved.payload};
}

void start(ToolCall& call, const ToolStarted& started, const StepId& step, Timestamp at) {
  call.stage = CallStage::started;
  call.step = step;
  call.outside = started.outside_sandbox.value_or(false);
  call.boot = started.boot_id;
  call.started_at = at;
  call.refused = started.policy && (started.policy->text == "\"denied\"" ||
                                    started.policy->text == "\"not_evaluated\"");
}

void allow(ToolCall& call, const std::optional<std::string>& digest) {
  call.digest = digest;
  call.as_shown = digest.has_value();
  if (call.stage != CallStage::stopped) {
    call.stage = CallStage::approved;
    return;
  }
  // The call was started before; it now runs again as another process.
  call.stage = CallStage::started;
  call.outside = true;
}

}  // namespace agentrt::state
