// control/tool_catalog.cc: the tools as a turn sees them: what there is, and what a call of each
// gets under its policy where no rule speaks about the very call.
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

std::string word_of(const Session& view, const policy::Effective& policy, std::string_view tool,
                    policy::Access access) {
  if (tool == AskUserArgs::kTool && !policy.asks_people()) return "denied";
  return word_of(policy::general_decision(tool, access, view.cwd, policy));
}

}  // namespace

ToolCatalogResolved tool_catalog(const Session& view, const policy::Effective& policy,
                                 std::vector<CatalogTool> of_servers,
                                 std::vector<MissingServer> missing) {
  ToolCatalogResolved out;
  for (const OwnTool& tool : own_tools())
    out.tools.push_back({.tool_name = std::string(tool.name),
                         .description = std::string(tool.description),
                         .input_schema = Json{std::string(tool.input_schema())},
                         .capabilities = {std::string(tool.capability)},
                         .policy = word_of(view, policy, tool.name, tool.access),
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
    tool.policy = word_of(view, policy, tool.tool_name, policy::Access::changes);
    out.tools.push_back(std::move(tool));
  }
  if (!missing.empty()) out.missing = std::move(missing);
  return out;
}

}  // namespace agentrt::control
