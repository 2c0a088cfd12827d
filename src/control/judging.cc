#include "control/judging.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "control/tool_calls.h"
#include "state/policies.h"
#include "tools/registry.h"

namespace agentrt::control {

using namespace schema;

namespace {

constexpr std::size_t kReasonBytesMax = 1'024;
constexpr std::size_t kSubcommandsBytesMax = 4'096;

// Truncates explanations for facts, because they may repeat the whole input.
std::string clipped(const std::string& text) {
  const std::string_view kept = utf8_prefix(text, kReasonBytesMax);
  return std::string(kept) + (kept.size() < text.size() ? " …" : "");
}

std::vector<std::string> clipped(const std::vector<std::string>& texts) {
  std::vector<std::string> out;
  std::size_t bytes = 0;
  for (const std::string& text : texts) {
    out.push_back(clipped(text));
    bytes += out.back().size();
    if (bytes <= kSubcommandsBytesMax || out.size() == texts.size()) continue;
    out.push_back(fmt::format("… and {} more", texts.size() - out.size()));
    break;
  }
  return out;
}

}  // namespace

policy::Effective effective_policy(const Session& view, const Turn& turn, const Inputs& inputs) {
  return effective_policy(view, turn, inputs.settings->home, *inputs.settings->rule_sets);
}

policy::Effective effective_policy(const Session& view, const Turn& turn, const std::string& home,
                                   policy::RuleSets& sets) {
  std::vector<policy::Sources> chain;
  std::vector<PolicyRule> room;
  const auto& granted = state::granted_to(view, turn, room);
  for (const state::Governing& each : state::governing(view, turn))
    chain.push_back({*each.policy, granted, view.mode, *each.options, each.write_roots});
  return policy::derive(chain, home, sets);
}

bool leaves_sandbox(const policy::Effective& policy, const state::ToolCall& call) {
  if (policy.sandbox == SandboxMode::full_access) return false;
  const auto command = tools::command_in(call.tool, call.args.text);
  return command && command->outside_sandbox;
}

policy::Asked asked_of(const Session& view, const policy::Effective& policy,
                       const state::ToolCall& call) {
  policy::Asked asked;
  asked.tool = tools::judged_as(call.tool);
  asked.text = text_of(call);
  asked.cwd = cwd_of(view, call);
  asked.folder = folder_of(call);
  asked.workspace = view.cwd;
  asked.roots = view.additional_roots.value_or(std::vector<std::string>{});
  asked.access = access_of(call.tool);
  if (leaves_sandbox(policy, call)) asked.escalation = policy::Escalation::outside_sandbox;
  return asked;
}

policy::Judgement judge_call(const Session& view, const policy::Effective& policy,
                             const state::ToolCall& call, const Binding* now) {
  return policy::judge(asked_of(view, policy, call), policy, {call.said, now});
}

std::string approval_digest(const SessionId& session, const state::ToolCall& call,
                            const Binding& binding, const std::optional<Timestamp>& expires_at) {
  const std::string bound = fmt::format(
      R"({{"tool":{},"arguments":{},"binding":{},"session":{},"toolCall":{},"expiresAt":{}}})",
      to_json(call.tool), call.args.text, to_json(binding), to_json(session),
      to_json(call.approved_as.value_or(call.id)), expires_at ? to_json(*expires_at) : "null");
  return "sha256:" + hex(bytes_of(sha256(bound)));
}

PermissionEvaluated evaluated(const policy::Judgement& judgement, PermissionMode mode) {
  PermissionEvaluated out;
  out.decision = judgement.decision;
  out.decision_source = judgement.source;
  out.decision_reason = clipped(judgement.reason);
  out.rule_refs = judgement.rule_refs;
  out.chain = judgement.chain;
  for (Verdict& verdict : *out.chain)
    if (verdict.reason) verdict.reason = clipped(*verdict.reason);
  out.destructive = judgement.destructive.has_value();
  if (judgement.destructive) {
    out.impact = judgement.destructive->impact;
    out.rollback = judgement.destructive->undo;
  }
  out.mode = mode;
  if (!judgement.subcommands.empty()) out.subcommands = clipped(judgement.subcommands);
  return out;
}

}  // namespace agentrt::control
