// control/actions.cc: decides answers to actions. Each action is answered once, or expires.
#include "control/actions.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/flow.h"
#include "control/offers.h"
#include "control/tool_calls.h"
#include "schema/arguments.h"
#include "schema/tools.h"
#include "tools/registry.h"

namespace agentrt::control {

using namespace schema;

namespace {

ActionScope scope_of(const Facts& facts, const Turn& turn) {
  const state::Action& action = *turn.action;
  const TurnScope of_turn = facts.of(turn.ids);
  if (!action.call) return ActionScope{of_turn, action.id};
  return ActionScope{ToolScope{of_turn, action.step, *action.call}, action.id};
}

// The call that waits for the turn's action.
const state::ToolCall& call_in(const Turn& turn) {
  const auto call = std::ranges::find(turn.tools, *turn.action->call, &state::ToolCall::id);
  check(call != turn.tools.end(), "an action of a call holds it back");
  return *call;
}

bool is_permission(const state::Action& action) {
  return action.required.action_type == kPermissionAction;
}

// The error for an answer to an action that is not open: answered, expired or unknown.
Decided too_late(const ActionId& id, const std::optional<ActionSnapshot>& known) {
  if (!known) return refuse(Code::not_found, fmt::format("there is no action {}", id.text()));
  const std::string decision = known->decision.value_or("");
  std::string details = fmt::format(R"({{"decision":{},"decisionSource":{},"resolvedAt":{})",
                                    to_json(decision), to_json(known->decision_source.value_or("")),
                                    known->resolved_at ? to_json(*known->resolved_at) : "null");
  if (known->answered_by) details += R"(,"answeredBy":)" + to_json(*known->answered_by);
  details += '}';
  if (decision == "expired")
    return refuse(Code::expired, fmt::format("action {} expired before it was answered", id.text()),
                  details);
  return refuse(Code::conflict,
                fmt::format("action {} has already been answered: {}{}", id.text(), decision,
                            known->answered_by ? ", by " + *known->answered_by : ""),
                details);
}

// Checks the answer to an MCP server's question against the server's schema. A question with a URL
// takes no content.
std::optional<Error> wrong_content(const state::Action& action, const RespondAction& command) {
  const bool gives = command.decision == "accept" && !action.required.url;
  if (!gives) {
    if (!command.payload) return std::nullopt;
    return Error{Code::invalid_params, "payload: not allowed with this decision", {}};
  }
  if (!command.payload || !command.payload->text.starts_with('{'))
    return Error{Code::invalid_params,
                 "payload: expected an answer that matches the schema of the action",
                 {}};
  if (const auto wrong = wrong_arguments(*action.required.schema, *command.payload))
    return Error{Code::invalid_params, "payload." + *wrong, {}};
  return std::nullopt;
}

std::optional<Error> wrong_payload(const state::Action& action, const RespondAction& command) {
  const std::string& type = action.required.action_type;
  if (type == kElicitationAction) return wrong_content(action, command);
  const bool answers = type == kInputAction && command.decision == "answer";
  if (!answers) {
    if (!command.payload) return std::nullopt;
    return Error{Code::invalid_params, "payload: not allowed with this decision", {}};
  }
  if (!command.payload)
    return Error{Code::invalid_params,
                 "payload: expected an answer that matches the schema of the action",
                 {}};
  AskUserAnswer answer;
  if (const auto read = from_json(command.payload->text, answer, Unknown::refuse); !read)
    return Error{Code::invalid_params, "payload." + read.error().message, {}};
  return std::nullopt;
}

// Measured as elapsed time, because the wall clock may have been set since the question.
bool too_late(const ActionRequired& required, const Inputs& inputs) {
  if (!required.expires_at) return false;
  if (!required.expires_in_ms) return *required.expires_at <= inputs.now;
  return inputs.since(*required.expires_at + -*required.expires_in_ms) >= *required.expires_in_ms;
}

// A scope or rule that the question did not offer. Questions of older versions list neither.
std::optional<Error> not_offered(const ActionRequired& required, const RespondAction& command) {
  const AnswerScope scope = command.scope.value_or(AnswerScope::once);
  const auto& scopes = required.scopes;
  // Where an answer for the session has an effect, one for a channel has.
  const std::string_view offered =
      name_of(scope == AnswerScope::channel ? AnswerScope::session : scope);
  if (scopes && std::ranges::find(*scopes, offered) == scopes->end())
    return Error{Code::invalid_params,
                 fmt::format("scope: this action offers {}: a longer one would have no effect",
                             fmt::join(*scopes, ", ")),
                 fmt::format(R"({{"scopes":{}}})", to_json(*scopes))};
  if (!command.rule) return std::nullopt;
  if (scope == AnswerScope::once)
    return Error{
        Code::invalid_params, "rule: an answer stores one only with scope session or always", {}};
  const auto rules = required.rules.value_or(std::vector<std::string>{});
  if (std::ranges::find(rules, *command.rule) == rules.end())
    return Error{Code::invalid_params, "rule: expected one of those that the action offers",
                 fmt::format(R"({{"rules":{}}})", to_json(rules))};
  return std::nullopt;
}

std::optional<Error> wrong_answer(const state::Action& action, const RespondAction& command,
                                  const Inputs& inputs) {
  const auto& offered = action.required.decisions.value_or(std::vector<std::string>{});
  if (std::ranges::find(offered, command.decision) == offered.end())
    return Error{Code::invalid_params,
                 fmt::format("decision: expected one of {}", fmt::join(offered, ", ")),
                 fmt::format(R"({{"decisions":{}}})", to_json(offered))};
  if (too_late(action.required, inputs))
    return Error{Code::expired,
                 fmt::format("action {} expired before it was answered", action.id.text()),
                 {}};
  if (command.digest && *command.digest != action.required.digest)
    return Error{Code::binding_mismatch,
                 "digest: does not match the action, which may have changed; read the action again",
                 fmt::format(R"({{"digest":{}}})", to_json(action.required.digest.value_or("")))};
  if (command.scope && *command.scope != AnswerScope::once && !is_permission(action))
    return Error{Code::invalid_params,
                 "scope: only the approval of a permission can have a scope other than once",
                 {}};
  if (command.scope == AnswerScope::channel && inputs.channel.empty())
    return Error{Code::invalid_params,
                 "scope: channel is for answers over a channel: connect one, or name it with the "
                 "header Agentrt-Channel",
                 {}};
  if (auto error = not_offered(action.required, command)) return error;
  return wrong_payload(action, command);
}

// An answer for more than once stores a rule, and the number of rules per session is limited.
std::optional<Error> no_room(const Session& view, const Turn& turn, const RespondAction& command) {
  if (command.scope.value_or(AnswerScope::once) == AnswerScope::once || !turn.action->call)
    return std::nullopt;
  const ActionRequired& required = turn.action->required;
  std::size_t bytes = required.input ? required.input->text.size() : 0;
  bytes += rule_bytes({.rule = {}, .cwd = required.cwd, .executes = required.executes});
  for (const PolicyRule& rule : view.granted) bytes += rule_bytes(rule);
  if (view.granted.size() < kPolicyRulesMax && bytes <= kPolicyBytesMax) return std::nullopt;
  return Error{Code::limit_exceeded,
               fmt::format("scope: the session cannot take another rule (the limit is {} rules, {} "
                           "KiB of text): answer with scope once, or remove rules with set_policy",
                           kPolicyRulesMax, kPolicyBytesMax >> 10),
               {}};
}

// Refuses an answer that is not among the offered choices. wrong_payload has checked its form.
std::optional<Error> wrong_choice(const Turn& turn, const RespondAction& command) {
  if (!command.payload || !turn.action->call) return std::nullopt;
  const auto call = std::ranges::find(turn.tools, *turn.action->call, &state::ToolCall::id);
  if (call == turn.tools.end()) return std::nullopt;
  const auto question = tools::question_in(call->tool, call->args.text);
  AskUserAnswer answer;
  if (!question || !question->choices ||
      !from_json(command.payload->text, answer, Unknown::refuse) ||
      std::ranges::find(*question->choices, answer.answer) != question->choices->end())
    return std::nullopt;
  return Error{
      Code::invalid_params,
      fmt::format("payload.answer: expected one of {}", fmt::join(*question->choices, ", ")),
      {}};
}

RuleOrigin origin_of(AnswerScope scope) {
  if (scope == AnswerScope::channel) return RuleOrigin::channel;
  return scope == AnswerScope::always ? RuleOrigin::always : RuleOrigin::session;
}

// The rule that an answer for longer than once stores: the one that it names, otherwise one that
// matches exactly this call. An allowed command is bound to the folder and files of the question; a
// denied one is denied everywhere.
PolicyRule rule_of_answer(const Session& view, const Turn& turn, const state::ToolCall& call,
                          const RespondAction& command, const Inputs& inputs) {
  const ActionRequired& required = turn.action->required;
  const bool allow = command.decision == "allow";
  const policy::Effective policy = effective_policy(view, turn, inputs);
  policy::Asked asked = asked_of(view, policy, call);
  if (call.stage == state::CallStage::stopped)
    asked.escalation = policy::Escalation::outside_sandbox;
  if (!allow) asked.escalation = policy::Escalation::none;
  PolicyRule rule{allow ? RuleEffect::allow : RuleEffect::deny,
                  policy::exact_rule(asked, policy.home), origin_of(*command.scope)};
  rule.granted_at = inputs.now;
  if (command.scope == AnswerScope::channel) rule.channel_id = inputs.channel;
  if (command.rule && *command.rule != rule.rule) {
    rule.rule = *command.rule;
    return rule;
  }
  if (allow && tools::runner_of(call.tool) == tools::Runner::process) {
    rule.cwd = required.cwd;
    rule.executes = required.executes;
  }
  return rule;
}

// Stores the rule; it replaces an earlier one for the same text in the same folder.
void keep_answer(Facts& facts, const Session& view, const PolicyRule& rule,
                 const RespondAction& command, const Inputs& inputs) {
  PolicyChanged changed{.change = "rules"};
  changed.source = "human";
  changed.reason = command.reason;
  changed.changed_by = inputs.principal;
  if (command.scope == AnswerScope::always) changed.workspace = view.cwd;
  for (const PolicyRule& old : view.granted) {
    const bool same_place = old.cwd == rule.cwd || old.cwd == "";
    if (!rule.cwd || !same_place || old.rule != rule.rule || old.origin != rule.origin) continue;
    if (old.effect != rule.effect || old == rule || old.channel_id != rule.channel_id) continue;
    if (!changed.removed) changed.removed.emplace();
    changed.removed->push_back(old);
  }
  changed.added = std::vector<PolicyRule>{rule};
  facts.add(facts.of_session(), std::move(changed));
}

Failure refusal(const RespondAction& command) {
  return {Category::denied,
          command.reason ? "denied by a person: " + *command.reason : "denied by a person", false};
}

// Continues the turn where it waited. A turn of an earlier boot is prepared again first.
void go_on(Facts& facts, const Session& view, const Thread& thread, Inputs& inputs) {
  const Turn& turn = *thread.active;
  if (turn.boot != inputs.boot) return facts.resume(turn);
  facts.decided(turn, "answered");
  if (turn.prepared) Flow{facts, view, thread, inputs}.go_on();
}

// Ends the call without running it. A call that the sandbox stopped keeps its earlier result.
void give_up(Facts& facts, const Session& view, const Thread& thread, const state::ToolCall& call,
             Failure error, Inputs& inputs) {
  const ToolScope scope{facts.of(thread.active->ids), call.step, call.id};
  if (call.stage == state::CallStage::stopped) {
    facts.add(scope, ToolResult{.preview = call.stopped->preview,
                                .output_ref = call.stopped->output_ref,
                                .is_error = true,
                                .duration_ms = facts.ran_ms(call),
                                .tool_name = call.tool});
    facts.add(scope, ItemCompleted{.kind = item_of(call.tool),
                                   .status = Status::failed,
                                   .preview = call.stopped->preview,
                                   .output_ref = call.stopped->output_ref,
                                   .error = Failure{Category::sandbox, error.message, false}});
  } else if (call.stage == state::CallStage::started) {
    end_call(facts, scope, call, std::move(error));
  } else {
    Flow{facts, view, thread, inputs}.refuse_call(call, std::move(error));
  }
}

void settle_permission(Facts& facts, const Session& view, const Thread& thread,
                       const RespondAction& command, const std::optional<PolicyRule>& kept,
                       Inputs& inputs) {
  const Turn& turn = *thread.active;
  const state::Action& action = *turn.action;
  const bool allowed = command.decision == "allow";
  facts.add(
      scope_of(facts, turn),
      PermissionResolved{.decision = allowed ? Decision::allow : Decision::deny,
                         .decision_source = DecisionSource::human,
                         .scope = std::string(name_of(command.scope.value_or(AnswerScope::once))),
                         .reason = command.reason,
                         .digest = action.required.digest});
  const state::ToolCall& call = call_in(turn);
  if (kept) keep_answer(facts, view, *kept, command, inputs);
  if (!allowed) give_up(facts, view, thread, call, refusal(command), inputs);
  go_on(facts, view, thread, inputs);
}

void settle_input(Facts& facts, const Session& view, const Thread& thread,
                  const RespondAction& command, Inputs& inputs) {
  const Turn& turn = *thread.active;
  const state::ToolCall& call = call_in(turn);
  const ToolScope scope{facts.of(turn.ids), call.step, call.id};
  if (command.decision == "answer") {
    facts.add(scope, ToolResult{.preview = command.payload->text,
                                .duration_ms = facts.ran_ms(call),
                                .tool_name = call.tool});
    facts.add(scope, ItemCompleted{.kind = ItemKind::tool_call, .preview = command.payload->text});
  } else {
    end_call(facts, scope, call,
             {Category::cancelled,
              command.reason ? "the person did not answer: " + *command.reason
                             : "the person did not answer",
              false});
  }
  go_on(facts, view, thread, inputs);
}

void settle_trust(Facts& facts, const Session& view, const Thread& thread,
                  const RespondAction& command, Inputs& inputs) {
  const Turn& turn = *thread.active;
  if (command.decision == "allow") {
    PolicyChanged changed{.change = "trusted"};
    changed.source = "human";
    changed.workspace = view.cwd;
    changed.files = turn.action->required.files;
    for (PolicyFile& file : *changed.files) {
      file.trusted = true;
      file.trusted_effects.reset();
    }
    changed.reason = command.reason;
    changed.changed_by = inputs.principal;
    facts.add(facts.of_session(), std::move(changed));
  }
  if (turn.boot != inputs.boot) return facts.resume(turn);
  facts.decided(turn, "answered");
  facts.add(facts.of(turn.ids),
            RunStatus{.status = Status::preparing, .phase = "prepare", .title = "Preparing"});
}

const Thread& thread_of(const Session& view, const Turn& turn) {
  return view.threads.at(turn.ids.thread);
}

// Whether the answer changes the policy of every session of the workspace.
bool reaches_workspace(const ActionRequired& required, const RespondAction& command) {
  return command.scope == AnswerScope::always ||
         (required.action_type == kTrustAction && command.decision == "allow");
}

}  // namespace

void withdraw(Facts& facts, const Turn& turn, const std::string& how, const std::string& reason) {
  const ActionScope scope = scope_of(facts, turn);
  facts.add(scope,
            ActionResolved{.decision = how,
                           .decision_source = std::string(name_of(DecisionSource::host_policy)),
                           .scope = {},
                           .reason = reason,
                           .payload = {},
                           .answered_by = {},
                           .duration_ms = facts.since(turn.action->at)});
  if (is_permission(*turn.action))
    facts.add(scope, PermissionResolved{.decision = Decision::deny,
                                        .decision_source = DecisionSource::host_policy,
                                        .scope = {},
                                        .reason = reason,
                                        .digest = turn.action->required.digest});
}

Decided respond_action(const Session& view, const RespondAction& command, Inputs inputs) {
  const Turn* turn = state::turn_waiting_for(view, command.action_id);
  if (!turn) return too_late(command.action_id, inputs.named.action);
  if (auto error = wrong_answer(*turn->action, command, inputs)) return *error;
  if (inputs.bound && reaches_workspace(turn->action->required, command))
    return refuse(Code::forbidden,
                  "this answer would count for every session of the workspace, and the token is "
                  "bound to one session: answer with another token, or for this session alone");
  if (auto error = wrong_choice(*turn, command)) return *error;
  if (auto error = no_room(view, *turn, command)) return *error;
  const Thread& thread = thread_of(view, *turn);
  const AnswerScope scope = command.scope.value_or(AnswerScope::once);
  std::optional<PolicyRule> kept;
  if (is_permission(*turn->action) && scope != AnswerScope::once)
    kept = rule_of_answer(view, *turn, call_in(*turn), command, inputs);
  Facts facts{view, inputs};
  facts.add(scope_of(facts, *turn),
            ActionResolved{.decision = command.decision,
                           .decision_source = std::string(name_of(DecisionSource::human)),
                           .scope = std::string(name_of(scope)),
                           .rule = kept ? std::optional(kept->rule) : std::nullopt,
                           .reason = command.reason,
                           .payload = command.payload,
                           .answered_by = inputs.principal,
                           .duration_ms = facts.since(turn->action->at)});
  const std::string& type = turn->action->required.action_type;
  if (type == kPermissionAction)
    settle_permission(facts, view, thread, command, kept, inputs);
  else if (type == kTrustAction)
    settle_trust(facts, view, thread, command, inputs);
  else if (type == kElicitationAction)
    go_on(facts, view, thread, inputs);
  else
    settle_input(facts, view, thread, command, inputs);
  return accept(facts, ActionReply{command.action_id, view.id, command.decision, 0});
}

Decided resolve_permission(const Session& view, const ResolvePermission& command, Inputs inputs) {
  const Turn* turn = state::turn_waiting_for(view, command.action_id);
  if (turn && !is_permission(*turn->action))
    return refuse(
        Code::conflict,
        fmt::format("action {} is not a request for permission; answer it with respond_action",
                    command.action_id.text()),
        fmt::format(R"({{"actionType":{}}})", to_json(turn->action->required.action_type)));
  return respond_action(view,
                        RespondAction{.action_id = command.action_id,
                                      .decision = command.decision,
                                      .digest = command.digest,
                                      .payload = {},
                                      .scope = command.scope,
                                      .rule = {},
                                      .reason = command.reason,
                                      .idempotency_key = {}},
                        std::move(inputs));
}

Decided action_expired(const Session& view, const ReportActionExpired& report, Inputs inputs) {
  const Turn* turn = state::turn_waiting_for(view, report.action);
  if (!turn) return Unchanged{};
  const Thread& thread = thread_of(view, *turn);
  const state::Action& action = *turn->action;
  Facts facts{view, inputs};
  const std::string reason = "no answer arrived in time";
  withdraw(facts, *turn, "expired", reason);
  if (action.call && action.required.action_type != kElicitationAction)
    give_up(facts, view, thread, call_in(*turn), {Category::timeout, reason, false}, inputs);
  go_on(facts, view, thread, inputs);
  return accept(facts);
}

Decided inspected(const Session& view, const ReportInspected& report, Inputs inputs) {
  const Thread* thread = thread_of_active(view, report.turn);
  if (!thread || thread->status == Status::blocked || thread->active->action) return Unchanged{};
  const Turn& turn = *thread->active;
  if (turn.tools.empty() || turn.tools.front().id != report.call ||
      (turn.tools.front().stage != state::CallStage::requested &&
       turn.tools.front().stage != state::CallStage::stopped))
    return Unchanged{};
  const state::ToolCall& call = turn.tools.front();
  Facts facts{view, inputs};
  Flow flow{facts, view, *thread, inputs};
  if (report.failure) {
    give_up(facts, view, *thread, call, *report.failure, inputs);
    flow.go_on();
  } else {
    flow.inspected(call, report.binding, report.absent);
  }
  return accept(facts);
}

}  // namespace agentrt::control
