#include "validate/call_rules.h"

#include <algorithm>

namespace agentrt::validate {

using namespace schema;

namespace {

int force(Decision decision) {
  if (decision == Decision::deny) return 2;
  return decision == Decision::ask || decision == Decision::unavailable ? 1 : 0;
}

bool lets_run(const std::optional<Decision>& decision) {
  return decision == Decision::allow || decision == Decision::sandboxed;
}

// Whether a verdict `ask` may be overridden: that of the mode by any other source, and any by a
// person's decision.
bool gives_way(const Verdict& verdict, const PermissionEvaluated& p) {
  return verdict.verdict == Decision::ask &&
         ((verdict.source == DecisionSource::mode && p.decision_source != DecisionSource::mode) ||
          p.decision_source == DecisionSource::human);
}

// Whether the runtime, not a person, ended the action.
bool is_own_end(const ActionResolved& p) {
  return p.decision_source != name_of(DecisionSource::human) &&
         (p.decision == "cancelled" || p.decision == "expired" || p.decision == "timed_out" ||
          p.decision == "unavailable" || p.decision == "deny");
}

}  // namespace

// --- the call itself ---

void CallRules::operator()(const ToolStarted& p) {
  const Head& head = hearing_.head();
  Call* started = call();
  if (!started) return;
  if (started->state != CallState::unknown)
    return hearing_.fail("tool.order",
                         fmt::format("call {} starts a second time", head.tool_call_id));
  Turn& of_turn = turn();
  if (of_turn.gates > 0)
    hearing_.fail("action.pauses", "a call starts while the turn waits for an action");
  started->state = CallState::open;
  if (!head.step_id.empty()) started->step = hearing_.key(head.step_id);
  started->has_input = p.safe_args || p.input_ref;
  started->has_policy = p.policy.has_value();
  ++of_turn.calls;
}

CallRules::Call* CallRules::open_call() {
  const std::string& id = hearing_.head().tool_call_id;
  if (id.empty()) return nullptr;
  Call* found = calls_.find(call_key());
  if (found && found->state == CallState::open) {
    const std::string& step = hearing_.head().step_id;
    if (found->step != 0 && !step.empty() && found->step != hearing_.key(step))
      hearing_.fail("ids.stable", fmt::format("call {} had a different step before", id));
    return found;
  }
  if (!found && hearing_.excuses(calls_)) return nullptr;
  const bool closed = found && found->state == CallState::closed;
  hearing_.fail("tool.order",
                fmt::format("call {} {}", id, closed ? "has ended" : "has not started"));
  return nullptr;
}

void CallRules::operator()(const ToolArgs&) {
  if (Call* open = open_call()) open->has_input = true;
}

void CallRules::operator()(const ToolProgress&) {
  if (const Call* open = open_call()) held_back(open, "progress");
}

void CallRules::operator()(const ToolResult& p) {
  Call* open = open_call();
  if (!open) return;
  const std::string& id = hearing_.head().tool_call_id;
  if (!p.preview && !p.output_ref && !p.structured_content_ref && !p.artifact_refs)
    hearing_.fail("tool.outcome",
                  fmt::format("the result of call {} has neither preview nor outputRef", id));
  if (!open->has_input)
    hearing_.fail("tool.input", fmt::format("the input of call {} is not recorded", id));
  if (!open->has_policy && !open->decision)
    hearing_.fail("tool.decided",
                  fmt::format("the permission decision of call {} is not recorded", id));
  if (!p.is_error) {
    held_back(open, "a result");
    if (open->decision && !lets_run(open->decision))
      hearing_.fail("tool.denied", fmt::format("call {} succeeded, but the decision was {}", id,
                                               name_of(*open->decision)));
    if (open->blocked)
      hearing_.fail("hook.obeyed", fmt::format("call {} succeeded, but a hook blocked it", id));
  }
  close_call(*open);
}

void CallRules::operator()(const ToolFailed&) {
  Call* open = open_call();
  if (!open) return;
  if (!hearing_.has("error") && !hearing_.has("errorRef"))
    hearing_.fail("tool.outcome", fmt::format("the error of call {} is not recorded",
                                              hearing_.head().tool_call_id));
  close_call(*open);
}

void CallRules::close_call(Call& call) {
  call.state = CallState::closed;
  calls_.end(call_key());
  if (Turn& of_turn = turn(); of_turn.calls > 0) --of_turn.calls;
}

void CallRules::held_back(const Call* call, std::string_view what) {
  if (call->gates > 0)
    hearing_.fail("action.pauses", fmt::format("{} of call {} while it waits for an action", what,
                                               hearing_.head().tool_call_id));
}

// --- decisions ---

void CallRules::decide(Decision decision) {
  if (Call* decided = call()) decided->decision = decision;
}

void CallRules::operator()(const PermissionEvaluated& p) {
  if (p.chain) {
    int strongest = 0;
    for (const Verdict& verdict : *p.chain)
      if (!gives_way(verdict, p)) strongest = std::max(strongest, force(verdict.verdict));
    if (force(p.decision) < strongest)
      hearing_.fail("permission.force",
                    fmt::format("the decision is {}, but the verdict of a source was {}",
                                name_of(p.decision), strongest == 2 ? "deny" : "ask"));
  }
  decide(p.decision);
}

void CallRules::operator()(const PermissionRequested&) {
  if (Call* asked = call()) asked->asked = true;
}

void CallRules::operator()(const PermissionResolved& p) {
  Call* answered = call();
  if (!answered) return;
  if (!answered->asked && !hearing_.excuses(calls_))
    hearing_.fail("permission.order", "a permission is resolved that was not requested");
  answered->asked = false;
  decide(p.decision);
}

bool CallRules::Action::offers(std::string_view decision) const {
  return std::ranges::find(decisions, decision) != decisions.end();
}

void CallRules::operator()(const ActionRequired& p) {
  const Head& head = hearing_.head();
  if (head.action_id.empty()) return;
  const Key key = hearing_.key(head.action_id);
  if (actions_.find(key))
    return hearing_.fail("action.order",
                         fmt::format("action {} is required a second time", head.action_id));
  Action& action = actions_.at(key);
  action.decisions = p.decisions.value_or(std::vector<std::string>{});
  action.turn = hearing_.key(head.turn_id);
  action.thread = hearing_.key(head.thread_id);
  Turn& of_turn = turn();
  ++of_turn.actions;
  if (auto& waiting = waiting_.at(action.thread); waiting.size() < kActionsWaitingMax)
    waiting.push_back(head.action_id);
  if (Call* held = call()) {
    action.call = call_key();
    ++held->gates;
  } else {
    ++of_turn.gates;
  }
}

void CallRules::operator()(const ActionResolved& p) {
  const Head& head = hearing_.head();
  if (head.action_id.empty()) return;
  const Key key = hearing_.key(head.action_id);
  Action* action = actions_.find(key);
  if (!action && hearing_.excuses(actions_)) return;
  if (!action || !action->open)
    return hearing_.fail("action.order",
                         fmt::format("action {} {}", head.action_id,
                                     action ? "is resolved a second time" : "was not required"));
  if (action->call != 0 && !head.tool_call_id.empty() && action->call != call_key())
    hearing_.fail("ids.stable",
                  fmt::format("action {} belongs to a different call", head.action_id));
  const auto& offered = action->decisions;
  if (!offered.empty() && !action->offers(p.decision) && !is_own_end(p))
    hearing_.fail("action.offered", fmt::format("{} is not one of the {} offered decisions",
                                                p.decision, offered.size()));
  action->open = false;
  actions_.end(key);
  if (Turn* of_turn = turns_.find(action->turn)) {
    if (of_turn->actions > 0) --of_turn->actions;
    if (action->call == 0 && of_turn->gates > 0) --of_turn->gates;
  }
  std::erase(waiting_.at(action->thread), head.action_id);
  Call* held = action->call == 0 ? nullptr : calls_.find(action->call);
  if (!held) return;
  if (held->gates > 0) --held->gates;
  if (p.decision == "allow") held->decision = Decision::allow;
  // An unanswered action that is not about a permission does not revoke one.
  const bool permission = action->offers("allow") || held->decision == Decision::ask;
  if (p.decision == "deny" || (is_own_end(p) && permission)) held->decision = Decision::deny;
}

std::vector<std::string> CallRules::open_actions() const {
  const auto* waiting = waiting_.find(hearing_.key(hearing_.head().thread_id));
  return waiting ? *waiting : std::vector<std::string>{};
}

// --- hooks ---

Key CallRules::hook_key(const std::optional<std::string>& run, HookPoint point) const {
  if (run) return hearing_.key(*run);
  const Head& head = hearing_.head();
  return hearing_.key(
      fmt::format("hook {} {} {}", name_of(point), head.turn_id, head.tool_call_id));
}

void CallRules::operator()(const HookStarted& p) {
  Hook& hook = hooks_.at(hook_key(p.hook_run_id, p.point));
  ++hook.running;
  hook.point = p.point;
  ++turn().hooks;
  if (p.hook_run_id && hook.running > 1)
    hearing_.fail("hook.order", fmt::format("hook run {} starts a second time", *p.hook_run_id));
}

void CallRules::hook_end(const std::optional<std::string>& run, HookPoint point) {
  const Key key = hook_key(run, point);
  Hook* hook = hooks_.find(key);
  if (hook && hook->running > 0) {
    --hook->running;
    if (hook->point != point)
      hearing_.fail("hook.order", fmt::format("a hook that started at {} ends at {}",
                                              name_of(hook->point), name_of(point)));
    if (hook->running == 0) hooks_.end(key);
    if (Turn& of_turn = turn(); of_turn.hooks > 0) --of_turn.hooks;
  } else if (hook || !hearing_.excuses(hooks_)) {
    hearing_.fail("hook.order", "a hook ends that is not running");
  }
}

void CallRules::operator()(const HookCompleted& p) {
  hook_end(p.hook_run_id, p.point);
  if (p.point != HookPoint::pre_tool_use && p.point != HookPoint::permission_request) return;
  if (Call* blocked = call())
    blocked->blocked |= p.block.value_or(false) || p.decision == Decision::deny;
}

void CallRules::operator()(const HookFailed& p) {
  hook_end(p.hook_run_id, p.point);
  if (!hearing_.has("onFailure")) return hearing_.fail("hook.failure", "onFailure is missing");
  const bool gates = p.point == HookPoint::pre_tool_use || p.point == HookPoint::permission_request;
  if (Call* blocked = call(); blocked && gates)
    blocked->blocked |= p.on_failure == OnFailure::closed;
}

// --- sandboxes and processes ---

void CallRules::operator()(const SandboxApplied&) {
  const Head& head = hearing_.head();
  if (!head.process_id.empty()) sandboxes_.at(hearing_.key(head.process_id)) = true;
  if (Call* confined = call()) confined->sandboxed = true;
  if (head.process_id.empty() && head.tool_call_id.empty()) ++turn().sandboxes;
}

void CallRules::operator()(const ProcessStarted&) {
  const Head& head = hearing_.head();
  if (hearing_.partial) return;
  Call* of_process = call();
  Turn* of_turn = head.turn_id.empty() ? nullptr : &turn();
  if (of_process) {
    held_back(of_process, "a process");
    if (of_process->state != CallState::open)
      hearing_.fail(
          "tool.order",
          fmt::format("process {} starts, but its call {}", head.process_id,
                      of_process->state == CallState::closed ? "has ended" : "has not started"));
    if (!lets_run(of_process->decision))
      hearing_.fail(
          "process.permitted",
          of_process->decision
              ? fmt::format("process {} starts, but the decision was {}", head.process_id,
                            name_of(*of_process->decision))
              : fmt::format("process {} starts without a permission decision", head.process_id));
    if (of_process->blocked)
      hearing_.fail("hook.obeyed",
                    fmt::format("process {} starts, but a hook blocked its call", head.process_id));
  }
  if (of_turn && of_turn->gates > 0)
    hearing_.fail("action.pauses", "a process starts while the turn waits for an action");
  const bool own = sandboxes_.find(hearing_.key(head.process_id)) != nullptr;
  sandboxes_.end(hearing_.key(head.process_id));
  if (own || (of_process && of_process->sandboxed)) return;
  if (of_turn && of_turn->sandboxes > 0)
    --of_turn->sandboxes;
  else
    hearing_.fail(
        "process.sandboxed",
        fmt::format("process {} starts without an earlier sandbox.applied", head.process_id));
}

void CallRules::operator()(const ModelRequested&) {
  const Turn* asking = turns_.find(hearing_.key(hearing_.head().turn_id));
  if (asking && asking->actions > 0 && !asking->compacting)
    hearing_.fail("action.pauses", "a model request starts while an action of the turn is open");
}

// A compaction may request its summary while an action is open.
void CallRules::operator()(const CompactionStarted&) { turn().compacting = true; }
void CallRules::operator()(const CompactionCompleted&) { turn().compacting = false; }
void CallRules::operator()(const CompactionFailed&) { turn().compacting = false; }

void CallRules::operator()(const TaskAttemptCompleted&) { attempt_ended(); }
void CallRules::operator()(const TaskAttemptFailed&) { attempt_ended(); }

void CallRules::attempt_ended() {
  const Turn* of_attempt = turns_.find(hearing_.key(hearing_.head().turn_id));
  if (of_attempt && (of_attempt->calls > 0 || of_attempt->actions > 0))
    hearing_.fail("turn.closed", "the attempt ends while one of its calls or actions is open");
}

void CallRules::operator()(const TurnCompleted&) { turn_ended(); }
void CallRules::operator()(const TurnFailed&) { turn_ended(); }

void CallRules::turn_ended() {
  const Key key = hearing_.key(hearing_.head().turn_id);
  Turn* ending = turns_.find(key);
  if (!ending) return;
  if (ending->calls > 0)
    hearing_.fail("turn.closed",
                  fmt::format("{} tool calls of the turn have no outcome", ending->calls));
  if (ending->actions > 0)
    hearing_.fail("turn.closed",
                  fmt::format("{} actions of the turn are not resolved", ending->actions));
  if (ending->hooks > 0)
    hearing_.fail("hook.order", fmt::format("{} hooks of the turn have no outcome", ending->hooks));
  *ending = {};
  turns_.end(key);
}

}  // namespace agentrt::validate
