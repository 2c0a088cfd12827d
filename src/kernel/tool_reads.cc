#include "kernel/tool_reads.h"

#include "control/judging.h"
#include "control/tool_calls.h"

namespace agentrt::kernel {

using namespace schema;

namespace {

// The newest stored tool catalog.
Result<ToolCatalogResolved> stored_catalog(store::Store& store, const state::Session& view) {
  if (view.catalog == 0) return ToolCatalogResolved{};
  TRY_ASSIGN(const auto page, store.events(view.id, view.catalog - 1, 1, 1));
  if (page.empty()) return ToolCatalogResolved{};
  TRY_ASSIGN(Fact fact, decode(page.front().event));
  if (auto* catalog = std::get_if<ToolCatalogResolved>(&fact.payload)) return std::move(*catalog);
  return ToolCatalogResolved{};
}

}  // namespace

Result<std::string> tool_inventory(store::Store& store, ports::Policies* policies,
                                   state::Session view, const control::Settings& settings) {
  if (policies != nullptr) {
    TRY_ASSIGN(view.policy, policies->policy(view.cwd));
  }
  TRY_ASSIGN(ToolCatalogResolved stored, stored_catalog(store, view));
  std::vector<CatalogTool> of_servers;
  if (stored.tools) of_servers = *std::move(stored.tools);
  std::erase_if(of_servers,
                [](const CatalogTool& tool) { return tool.runtime_owner == kOwnTools; });
  policy::RuleSets sets;
  const policy::Effective policy =
      control::effective_policy(view, state::Turn{}, settings.home, sets);
  ToolCatalogResolved catalog = control::tool_catalog(
      view, policy, std::move(of_servers), stored.missing.value_or(std::vector<MissingServer>{}));
  ToolInventory reply;
  if (view.exists()) reply.session_id = view.id;
  reply.tools = *std::move(catalog.tools);
  reply.missing = std::move(catalog.missing);
  reply.generation = store.generation();
  reply.as_of_sequence = view.sequence;
  return to_json(reply);
}

}  // namespace agentrt::kernel
