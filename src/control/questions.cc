// control/questions.cc: questions of a turn to the user: a permission, input for the model or an
// MCP server, trust.

#include <algorithm>

#include <fmt/format.h>

#include "base/digest.h"
#include "control/actions.h"
#include "control/flow.h"
#include "control/offers.h"
#include "control/tool_calls.h"
#include "tools/registry.h"

namespace agentrt::control {

using namespace schema;

namespace {

// Names a file whose content cannot be compared, so that the answer does not cover it.
std::optional<std::string> incomparable(const std::vector<ExecutedFile>& files) {
  for (const ExecutedFile& file : files)
    if (!file.digest)
      return fmt::format(
          "{} cannot be read or is too large to compare: the approval does not cover its contents",
          file.path);
  return std::nullopt;
}

std::string question_about(const state::ToolCall& call, const Binding& binding) {
  const tools::Tool* own = tools::find(call.tool);
  if (own && own->runs == tools::Runner::process)
    return fmt::format("Run this command in {}?", binding.cwd);
  if (own && own->runs == tools::Runner::file)
    return fmt::format("Allow {} to {} {}?", call.tool,
                       own->access == tools::Access::read ? "read" : "change", text_of(call));
  if (own && own->runs == tools::Runner::web) return fmt::format("Load {}?", text_of(call));
  return fmt::format("Call {}?", call.tool);
}

}  // namespace

// Sets the expiry of a question from the turn's options.
void Flow::limit_wait(ActionRequired& required) {
  const auto limit = turn().options.ask_timeout_ms;
  if (!limit) return;
  required.expires_in_ms = std::clamp<std::int64_t>(*limit, 0, kAskTimeoutMaxMs);
  required.expires_at = inputs_.now + *required.expires_in_ms;
}

void Flow::require(const TurnScope& held_back, const ActionId& action, ActionRequired required) {
  const bool permission = required.action_type == kPermissionAction;
  const std::string title = permission ? "Waiting for a permission" : "Waiting for an answer";
  const std::optional<std::string> detail = required.prompt;
  facts_.add(ActionScope{held_back, action}, std::move(required));
  if (!turn().item)  // the other items of its job go on
    facts_.add(scope(), TaskWaiting{.status = permission ? TaskStatus::waiting_permission
                                                         : TaskStatus::waiting_input,
                                    .reason = "action"});
  facts_.add(scope(),
             RunStatus{.status = permission ? Status::waiting_permission : Status::waiting_input,
                       .phase = "action",
                       .title = title,
                       .detail = detail});
}

void Flow::ask_permission(const state::ToolCall& call, const policy::Judgement& judgement,
                          const Binding& binding) {
  const ActionId action = ids_.next<ActionId>();
  ActionRequired required{.action_type = std::string(kPermissionAction)};
  limit_wait(required);
  const std::string digest = approval_digest(after_.id, call, binding, required.expires_at);
  PermissionEvaluated decision = evaluated(judgement, effective().mode);
  decision.digest = digest;
  decision.approval_action_id = action;
  facts_.add(scope_of(call), decision);
  facts_.add(ActionScope{scope_of(call), action},
             PermissionRequested{.tool_name = call.tool,
                                 .reason = decision.decision_reason,
                                 .digest = digest,
                                 .expires_at = required.expires_at});
  required.prompt = question_about(call, binding);
  required.decisions = std::vector<std::string>{"allow", "deny"};
  required.digest = digest;
  required.tool_name = call.tool;
  required.input = call.args;
  required.cwd = binding.cwd;
  required.reason = decision.decision_reason;
  const bool outside = call.stage == state::CallStage::stopped || leaves_sandbox(effective(), call);
  required.sandbox = outside ? SandboxMode::full_access : effective().sandbox;
  if (outside) {
    required.prompt = fmt::format("Run this command outside the sandbox, in {}?", binding.cwd);
    required.outside_sandbox = true;
    required.user = inputs_.settings->user;
    required.network = after_.policy.network;
  }
  offer(call, judgement, binding, outside, required);
  required.subcommands = decision.subcommands;
  required.destructive = decision.destructive;
  required.impact = decision.impact;
  required.rollback = decision.rollback;
  const tools::Tool* own = tools::find(call.tool);
  if (!binding.files.empty() && own && own->runs == tools::Runner::process)
    required.executes = binding.files;
  required.executes_unknown = judgement.executes_unknown;
  if (required.executes && !required.executes_unknown)
    required.executes_unknown = incomparable(*required.executes);
  const bool replaces = own && own->runs == tools::Runner::file && own->destructive;
  if (replaces && !binding.files.empty() && binding.files.front().digest) {
    required.destructive = true;
    required.impact = "it replaces an existing file";
    required.rollback = "apply the stored diff of the change in reverse";
  }
  require(scope_of(call), action, std::move(required));
}

// Lists the possible answers. A stopped call leaves the sandbox although its arguments do not say
// so.
void Flow::offer(const state::ToolCall& call, const policy::Judgement& judgement,
                 const Binding& binding, bool outside, ActionRequired& required) {
  policy::Asked asked = asked_of(after_, effective(), call);
  if (outside) asked.escalation = policy::Escalation::outside_sandbox;
  const auto would_run = [&](const PolicyRule& rule) {
    const auto added = policy::compile({rule});
    if (!added) return false;
    const policy::Effective policy = policy::with_rules(effective(), *added);
    return judge_call(after_, policy, call, &binding).decision == schema::Decision::allow;
  };
  const std::string& home = inputs_.settings->home;
  Offer offer = offer_answers(asked, judgement, binding, home, would_run);
  required.scope = Json{to_json(offer.scopes)};
  required.scopes = std::move(offer.scopes);
  if (!offer.rules.empty()) required.rules = std::move(offer.rules);
}

// Asks the user a question of the model. Returns whether the turn waits.
bool Flow::ask_input(const state::ToolCall& call) {
  if (!effective().asks_people()) {
    refuse_call(
        call, {Category::unavailable, "no person can answer: this run is not interactive", false});
    return false;
  }
  const auto question = tools::question_in(call.tool, call.args.text);
  check(question.has_value(), "the call was checked");
  ActionRequired required{.action_type = std::string(kInputAction)};
  required.prompt = question->text;
  required.schema = answer_schema(*question);
  required.decisions = std::vector<std::string>{"answer", "cancel"};
  required.tool_name = call.tool;
  required.input = call.args;
  limit_wait(required);
  add_started(call, Json{"\"not_needed\""});
  require(scope_of(call), ids_.next<ActionId>(), std::move(required));
  return true;
}

void Flow::ask_for_server(const state::ToolCall& call, const ReportToolAsks& question) {
  ActionRequired required{.action_type = std::string(kElicitationAction)};
  required.prompt = question.prompt;
  required.schema = question.schema;
  required.decisions = std::vector<std::string>{"accept", "decline", "cancel"};
  required.tool_name = call.tool;
  required.server = question.server;
  required.url = question.url;
  limit_wait(required);
  require(scope_of(call), ids_.next<ActionId>(), std::move(required));
  if (effective().asks_people()) return;
  withdraw(facts_, turn(), "cancelled", "no person can answer: this run is not interactive");
  facts_.decided(turn(), "withdrawn");
}

bool Flow::asks_for_trust(const std::vector<PolicyFile>& files) {
  if (!turn().options.ask_trust.value_or(false) || !effective().asks_people()) return false;
  std::vector<PolicyFile> untrusted;
  for (const PolicyFile& file : files)
    if (!file.trusted) untrusted.push_back(file);
  if (untrusted.empty()) return false;
  ActionRequired required{.action_type = std::string(kTrustAction)};
  required.digest = "sha256:" + hex(bytes_of(sha256(to_json(untrusted))));
  if (after_.trust_refused == required.digest) return false;
  required.prompt = fmt::format("Trust the current versions of these files of {}?", after_.cwd);
  required.reason = after_.policy.ignored.empty()
                        ? "they contain settings that apply only if the files are trusted"
                        : fmt::format("{}", fmt::join(after_.policy.ignored, "; "));
  required.decisions = std::vector<std::string>{"allow", "deny"};
  required.files = std::move(untrusted);
  required.cwd = after_.cwd;
  require(scope(), ids_.next<ActionId>(), std::move(required));
  return true;
}

}  // namespace agentrt::control
