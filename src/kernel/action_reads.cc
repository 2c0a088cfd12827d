#include "kernel/action_reads.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/flow.h"
#include "control/tool_calls.h"
#include "kernel/reads.h"
#include "policy/folders.h"
#include "policy/shell/analysis.h"
#include "state/index.h"
#include "tools/registry.h"

namespace agentrt::kernel {
namespace {

using namespace schema;

// The canonical form that runs instead of the command of `call`. None where the command runs as it
// is written: a person must approve it first, it is dynamic, or its form is the same text.
std::optional<std::string> form_to_run(const state::ToolCall& call, schema::Decision decision) {
  if (decision != schema::Decision::allow) return std::nullopt;
  const auto command = tools::command_in(call.tool, call.args.text);
  if (!command) return std::nullopt;
  auto form = policy::shell::analyse(command->text).canonical;
  return form == command->text ? std::nullopt : form;
}

}  // namespace

Result<std::string> list_actions(store::Store& store, const ListActions& query,
                                 const Limits& limits) {
  if (query.limit && *query.limit == 0)
    return fail(Code::invalid_params, "limit: expected 1 or more");
  TRY(check_session(store, query.session_id));
  store::IndexQuery rows;
  rows.kind = std::string(state::kActionKind);
  rows.session = query.session_id;
  if (!query.include_resolved.value_or(false)) rows.term = std::string(state::kOpenTerm);
  rows.limit =
      std::min<std::size_t>(query.limit.value_or(limits.page_turns_default), limits.page_max);
  if (query.cursor) TRY(read_row_cursor(store.generation(), *query.cursor, rows));
  TRY_ASSIGN(const auto entries, store.list(rows));
  std::string out = R"({"data":[)";
  bool any = false;
  for (const store::IndexEntry& entry : entries) {
    if (std::exchange(any, true)) out += ',';
    out += entry.row.record;
  }
  out += ']';
  if (entries.size() == rows.limit) {
    out += R"(,"nextCursor":)";
    write_string(out, write_row_cursor(store.generation(), entries.back()));
  }
  return out + "}";
}

Result<std::string> evaluate_permission(ports::Policies* policies, state::Session view,
                                        const EvaluatePermission& query,
                                        const control::Settings& settings) {
  if (query.cwd)
    if (auto error = policy::wrong_folder("cwd", *query.cwd))
      return std::unexpected(*std::move(error));
  if (query.session_id && query.cwd && *query.cwd != view.cwd)
    return fail(Code::conflict,
                fmt::format("the workspace of a session cannot change; that of this session is {}",
                            view.cwd));
  const auto& forbidden = settings.modes_forbidden;
  if (query.mode && std::ranges::find(forbidden, *query.mode) != forbidden.end())
    return fail(Code::forbidden, fmt::format("the managed configuration does not allow the mode {}",
                                             name_of(*query.mode)));
  check(policies != nullptr, "a kernel that answers about policy can read it");
  TRY_ASSIGN(view.policy, policies->policy(view.cwd));
  state::Turn turn;
  turn.options.mode = query.mode;
  turn.options.sandbox = query.sandbox;
  turn.options.interactive = query.interactive;
  state::ToolCall call;
  call.tool = query.tool_name;
  call.args = query.input;
  if (const auto wrong = control::wrong_call(view, call))
    return fail(wrong->category == Category::not_found ? Code::not_found : Code::invalid_params,
                wrong->message);
  policy::RuleSets sets;
  const policy::Effective policy = control::effective_policy(view, turn, settings.home, sets);
  policy::Judgement judgement = control::judge_call(view, policy, call);
  EvaluatePermissionReply reply;
  reply.decision = judgement.decision;
  reply.decision_source = judgement.source;
  reply.decision_reason = std::move(judgement.reason);
  reply.rule_refs = std::move(judgement.rule_refs);
  reply.chain = std::move(judgement.chain);
  reply.destructive = judgement.destructive.has_value();
  if (judgement.destructive) {
    reply.impact = judgement.destructive->impact;
    reply.rollback = judgement.destructive->undo;
  }
  reply.subcommands = std::move(judgement.subcommands);
  reply.executes_unknown = std::move(judgement.executes_unknown);
  reply.executed = form_to_run(call, reply.decision);
  reply.mode = policy.mode;
  reply.sandbox = policy.sandbox;
  reply.cwd = control::cwd_of(view, call);
  reply.ignored = view.policy.ignored;
  return to_json(reply);
}

Result<std::string> read_rules(ports::Policies* policies, const state::Session& view,
                               const GetRules& query) {
  if (query.cwd)
    if (auto error = policy::wrong_folder("cwd", *query.cwd))
      return std::unexpected(*std::move(error));
  if (query.session_id && query.cwd && *query.cwd != view.cwd)
    return fail(Code::conflict,
                fmt::format("the workspace of this session is fixed: {}", view.cwd));
  check(policies != nullptr, "a kernel that answers about policy can read it");
  TRY_ASSIGN(Policy policy, policies->policy(view.cwd));
  RulesReply reply;
  reply.workspace = view.cwd;
  reply.session_id = query.session_id;
  reply.mode = view.mode.value_or(policy.mode);
  reply.mode_origin = view.mode ? std::optional(RuleOrigin::session) : policy.mode_origin;
  reply.sandbox = policy.sandbox;
  reply.rules = std::move(policy.rules);
  // Granted here for every session of the folder: in the policy, unless it was taken back.
  for (const PolicyRule& rule : view.granted)
    if (rule.origin != RuleOrigin::always) reply.rules.push_back(rule);
  return to_json(reply);
}

Result<std::string> read_trust(ports::Policies* policies, const GetTrust& query) {
  if (auto error = policy::wrong_folder("cwd", query.cwd))
    return std::unexpected(*std::move(error));
  check(policies != nullptr, "a kernel that answers about policy can read it");
  TRY_ASSIGN(const Policy policy, policies->policy(query.cwd));
  return to_json(TrustReply{query.cwd, policy.files, 0});
}

}  // namespace agentrt::kernel
