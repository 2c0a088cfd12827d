// control/tool_catalog.cc: the tools as a turn sees them: what there is, and what a call of each
// gets under its policy where no rule speaks about the very call.
#include <fmt/format.h>

#include "control/judging.h"
#include "control/tool_calls.h"
#include "schema/tools.h"
#include "tools/registry.h"

namespace agentrt::control {

using namespace schema;

namespace {

std::string word_of(Decision decision) {
  switch (decision) {
    case Decision::allow:
    case Decision::sandboxed:
      return "allowed";
    case Decision::ask:
      return "asked";
    case Decision::unavailable:
      return "by_rule";
    case Decision::deny:
      break;
  }
  return "denied";
}

std::string word_of(const Session& view, const policy::Effective& policy, std::string_view tool) {
  if (tools::runner_of(tool) == tools::Runner::person && !policy.asks_people()) return "denied";
  return word_of(policy::general_decision(tool, access_of(tool), view.cwd, policy));
}

std::string_view capability_of(tools::Runner runner) {
  switch (runner) {
    case tools::Runner::process:
      return "process";
    case tools::Runner::file:
      return "filesystem";
    case tools::Runner::session:
      return "session";
    case tools::Runner::person:
      return "person";
    case tools::Runner::web:
      return "network";
    case tools::Runner::agent:
      return "subagent";
    case tools::Runner::server:
      break;
  }
  return "server";
}

}  // namespace

ToolCatalogResolved tool_catalog(const Session& view, const policy::Effective& policy,
                                 std::vector<CatalogTool> of_servers,
                                 std::vector<MissingServer> missing) {
  ToolCatalogResolved out;
  std::vector<CatalogTool>& list = out.tools.emplace();
  for (const tools::Tool& tool : tools::all())
    list.push_back({.tool_name = std::string(tool.name),
                    .description = std::string(tool.description),
                    .input_schema = Json{std::string(tool.input_schema())},
                    .capabilities = {std::string(capability_of(tool.runs))},
                    .policy = word_of(view, policy, tool.name),
                    .runtime_owner = std::string(kOwnTools),
                    .is_read_only = tool.access == tools::Access::read,
                    .is_concurrency_safe = tool.side_by_side,
                    .is_destructive = tool.destructive,
                    .interrupt_behavior = "cancel"});
  // The view stores at most kServerToolsMax tools, and a tool that it does not store cannot be
  // called, so further ones are not offered.
  if (of_servers.size() > state::kServerToolsMax) {
    missing.push_back(
        {"servers",
         fmt::format(
             "{} MCP tools are omitted: the limit is {}; choose tools with tools or disabled_tools",
             of_servers.size() - state::kServerToolsMax, state::kServerToolsMax)});
    of_servers.resize(state::kServerToolsMax);
  }
  for (CatalogTool& tool : of_servers) {
    tool.policy = word_of(view, policy, tool.tool_name);
    list.push_back(std::move(tool));
  }
  if (!missing.empty()) out.missing = std::move(missing);
  return out;
}

}  // namespace agentrt::control
