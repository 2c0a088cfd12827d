// control/tool_catalog.cc: the tools as a turn sees them: what there is, and what a call of each
// gets under its policy where no rule speaks about the very call.
#include <algorithm>

#include <fmt/format.h>

#include "control/judging.h"
#include "control/own_tools.h"
#include "control/tools.h"
#include "schema/tools.h"

namespace agentrt::control {

using namespace schema;

namespace {

std::string word_of(schema::Decision decision) {
  switch (decision) {
    case schema::Decision::allow:
    case schema::Decision::sandboxed:
      return "allowed";
    case schema::Decision::ask:
      return "asked";
    case schema::Decision::unavailable:
      return "by_rule";
    case schema::Decision::deny:
      break;
  }
  return "denied";
}

// What a command gets where no rule speaks about its text.
std::string shell_word(PermissionMode mode) {
  switch (mode) {
    case PermissionMode::bypass:
    case PermissionMode::on_request:
    case PermissionMode::on_failure:
      return "allowed";
    case PermissionMode::plan:
      return "denied";
    case PermissionMode::never:
      return "by_rule";
    default:
      return "asked";
  }
}

class Catalog {
 public:
  Catalog(const Session& view, const Turn& turn) : view_(view), turn_(turn) {
    std::vector<PolicyRule> all = view.policy.rules;
    all.insert(all.end(), view.granted.begin(), view.granted.end());
    rules_ = policy::compile(all).value_or(policy::Rules{});
  }

  std::string word(std::string_view tool, policy::Access access) const {
    const bool interactive = turn_.options.interactive.value_or(true);
    if (tool == AskUserArgs::kTool && !interactive) return "denied";
    if (tool == ShellArgs::kTool) return word_of_shell();
    policy::Asked asked;
    asked.tool = tool;
    asked.text = policy::is_file_tool(tool) ? "." : "{}";
    asked.cwd = asked.workspace = view_.cwd;
    asked.access = access;
    policy::Basis basis;
    basis.rules = &rules_;
    basis.mode = mode_of(view_, turn_);
    basis.interactive = interactive ? policy::Interactive::yes : policy::Interactive::no;
    basis.sandbox = sandbox_of(view_, turn_);
    return word_of(policy::judge(asked, basis).decision);
  }

 private:
  // Rules about the tool as a whole say it; those about texts say it of those texts alone.
  std::string word_of_shell() const {
    const auto has = [&](RuleEffect effect) {
      return std::ranges::any_of(rules_.all, [&](const policy::Rule& rule) {
        return rule.kind == policy::Rule::Kind::tool && rule.source.effect == effect &&
               (effect == RuleEffect::allow || !rule.outside) &&
               policy::is_about(rule, ShellArgs::kTool);
      });
    };
    if (has(RuleEffect::deny)) return "denied";
    if (has(RuleEffect::ask)) return "asked";
    const std::string word = shell_word(mode_of(view_, turn_));
    return word != "denied" && has(RuleEffect::allow) ? "allowed" : word;
  }

  const Session& view_;
  const Turn& turn_;
  policy::Rules rules_;
};

}  // namespace

ToolCatalogResolved tool_catalog(const Session& view, const Turn& turn,
                                 std::vector<CatalogTool> of_servers,
                                 std::vector<MissingServer> missing) {
  const Catalog catalog{view, turn};
  ToolCatalogResolved out;
  for (const OwnTool& tool : own_tools())
    out.tools.push_back({.tool_name = std::string(tool.name),
                         .description = std::string(tool.description),
                         .input_schema = Json{std::string(tool.input_schema())},
                         .capabilities = {std::string(tool.capability)},
                         .policy = catalog.word(tool.name, tool.access),
                         .runtime_owner = std::string(kOwnTools),
                         .is_read_only = tool.access == policy::Access::read_only,
                         .is_concurrency_safe = tool.side_by_side,
                         .is_destructive = tool.destructive,
                         .interrupt_behavior = "cancel"});
  // What the session does not keep in mind cannot be called, so it is not offered either.
  if (of_servers.size() > state::kServerToolsMax) {
    missing.push_back(
        {"servers",
         fmt::format("{} of their tools are left out: at most {} have room",
                     of_servers.size() - state::kServerToolsMax, state::kServerToolsMax)});
    of_servers.resize(state::kServerToolsMax);
  }
  for (CatalogTool& tool : of_servers) {
    tool.policy = catalog.word(tool.tool_name, policy::Access::changes);
    out.tools.push_back(std::move(tool));
  }
  if (!missing.empty()) out.missing = std::move(missing);
  return out;
}

}  // namespace agentrt::control
