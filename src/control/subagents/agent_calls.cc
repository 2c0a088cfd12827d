// control/subagents/agent_calls.cc: calls of a turn that delegate work to subagents or wait for
// them.
#include <fmt/format.h>

#include "control/flow.h"
#include "control/subagents/subagents.h"
#include "control/tasks/task_facts.h"
#include "control/tool_calls.h"

namespace agentrt::control {

using namespace schema;

namespace {

// The result of a delegation, for the model.
struct Delegated {
  std::string subagent_id;
  std::string role;
  std::optional<std::string> nickname;
  ChildStatus status = ChildStatus::running;
};
BOOST_DESCRIBE_STRUCT(Delegated, (), (subagent_id, role, nickname, status))

Failure failure_of(const Error& error) {
  const bool denied = error.code == Code::forbidden;
  const bool later = error.code == Code::limit_exceeded;
  return {denied  ? Category::denied
          : later ? Category::unavailable
                  : Category::invalid_input,
          error.message, false};
}

}  // namespace

std::variant<std::string, Failure> Flow::call_agent(const tools::SpawnCall& request) {
  NewSubagent wanted{.role = request.role,
                     .prompt = request.prompt,
                     .nickname = request.nickname,
                     .model = request.model};
  (void)turn();  // with the facts so far
  const Thread& parent = after_.threads.at(thread_.id);
  if (auto error = beneath_cancelled(task_of(inputs_, parent.active->ids.task), inputs_))
    return failure_of(*error);
  if (auto error = spawn_refusal(after_, threads_, parent, effective(), wanted, *inputs_.settings))
    return failure_of(*error);
  const Delegation made = spawn(facts_, after_, parent, wanted, Delegator::turn, ids_, inputs_);
  return to_json(Delegated{made.subagent.text(), request.role, request.nickname});
}

std::variant<std::string, Failure> Flow::call_agent(const tools::InputCall& request) {
  (void)turn();
  const auto found = waited_for(after_, thread_.id, {.subagents = std::vector{request.subagent}});
  if (!found) return failure_of(found.error());
  const state::Subagent& subagent = *state::find_subagent(after_, found->front());
  const Thread& parent = after_.threads.at(thread_.id);
  if (auto error = beneath_cancelled(task_of(inputs_, parent.active->ids.task), inputs_))
    return failure_of(*error);
  if (auto error = input_refusal(after_, subagent, *inputs_.settings)) return failure_of(*error);
  const Delegated told{subagent.id.text(), subagent.role, subagent.nickname,
                       subagent.open > 0 ? ChildStatus::queued : ChildStatus::running};
  (void)send_input(facts_, after_, subagent, {{InputKind::text, request.prompt, {}, {}}},
                   Delegator::turn, ids_, inputs_);
  return to_json(told);
}

// Returns whether the turn waits.
bool Flow::call_agents(const state::ToolCall& call, const tools::AgentCall& request) {
  std::variant<std::string, Failure> outcome;
  if (const auto* wait = std::get_if<tools::WaitCall>(&request)) {
    (void)turn();
    const auto waited = waited_for(after_, thread_.id, *wait);
    if (!waited) {
      outcome = failure_of(waited.error());
    } else if (auto result = wait_result(after_, *waited, *wait, wait->timeout_ms == 0)) {
      outcome = *std::move(result);
    } else {
      facts_.add(scope(), RunStatus{.status = Status::running,
                                    .phase = "subagents",
                                    .title = "Waiting for subagents",
                                    .detail = fmt::format("{} of them", waited->size())});
      return true;
    }
  } else if (const auto* spawn = std::get_if<tools::SpawnCall>(&request)) {
    outcome = call_agent(*spawn);
  } else {
    outcome = call_agent(std::get<tools::InputCall>(request));
  }
  if (auto* failure = std::get_if<Failure>(&outcome))
    end_call(facts_, scope_of(call), call, std::move(*failure));
  else
    end_agent_call(facts_, scope_of(call), call, std::get<std::string>(std::move(outcome)));
  return false;
}

}  // namespace agentrt::control
