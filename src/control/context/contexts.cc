#include "control/context/contexts.h"

#include <algorithm>

#include "base/digest.h"
#include "base/tokens.h"
#include "control/context/compaction.h"
#include "schema/outputs.h"
#include "schema/tools.h"
#include "state/read_models.h"

namespace agentrt::control {

using namespace schema;

namespace {

std::string digest_of(std::string_view text) {
  return std::string(kDigestPrefix) + hex(bytes_of(sha256(text)));
}

// The digest of the tools that a model is offered: name, description and schema of each tool that
// is not denied.
std::string offered_digest(const ToolCatalogResolved& catalog) {
  std::string all;
  for (const CatalogTool& tool : *catalog.tools) {
    if (tool.policy == "denied") continue;
    for (const std::string& text : {tool.tool_name, tool.description, tool.input_schema.text}) {
      all += text;
      all += '\0';
    }
  }
  return digest_of(all);
}

std::size_t offered_bytes(const ToolCatalogResolved& catalog) {
  std::size_t bytes = 0;
  for (const CatalogTool& tool : *catalog.tools)
    if (tool.policy != "denied") bytes += sent_bytes(tool);
  return bytes;
}

ContextPrefix changed(std::string reason) { return {"changed", std::move(reason)}; }

ContextPrefix prefix_of(const RequestParts& parts, const ContextResolved& context) {
  const Thread& thread = parts.thread;
  if (!thread.sent || parts.turn.item) return {"new", {}};
  if (thread.prefix_broken) return changed(*thread.prefix_broken);
  if (context.omitted_through > thread.omitted_through) return changed("omitted");
  if (thread.sent->provider != parts.routing.selected_provider ||
      thread.sent->model != parts.routing.selected_model)
    return changed("model");
  if (thread.sent->tools != offered_digest(parts.catalog)) return changed("tools");
  if (thread.sent->instructions != context.instructions_digest) return changed("instructions");
  return {"same", {}};
}

}  // namespace

void describe_request(const RequestParts& parts, ContextResolved& context) {
  context.prefix = prefix_of(parts, context);
  const auto candidate = std::ranges::find(
      parts.report.candidates, parts.routing.selected_name.value_or(""), &Candidate::name);
  ContextTokens tokens;
  tokens.limit = kContextTokensDefault;
  if (candidate != parts.report.candidates.end())
    tokens.limit = candidate->context_tokens.value_or(kContextTokensDefault);
  tokens.used = estimated_tokens(parts.report.request_bytes + offered_bytes(parts.catalog));
  tokens.source = "estimate";
  const std::uint64_t counted = parts.thread.context.counted;
  const std::uint64_t since = counted + estimated_tokens(parts.report.new_bytes);
  if (context.prefix->status == "same" && counted > 0 && since > tokens.used) {
    tokens.used = since;
    tokens.source = "usage";
  }
  context.tokens = tokens;
  // The compaction precedes the turn's first request, so that request starts with its summary.
  if (context.prefix->status != "new" &&
      compacts_at(parts.thread, parts.turn, parts.settings, tokens.used, tokens.limit))
    context.prefix = changed("compacted");
}

RecordedEnvironment environment_of(const ExecutionEnvironment& environment, const Thread& thread) {
  RecordedEnvironment out;
  if (thread.environment == environment && thread.environment_full > 0)
    out.same_as = state::log_ref(thread.environment_full);
  else
    out = recorded(environment);
  out.digest = digest_of(to_json(environment));
  return out;
}

ToolCatalogResolved without_repetition(ToolCatalogResolved catalog, const Session& view) {
  const std::size_t count = catalog.tools->size();
  ToolCatalogResolved out;
  out.offered_digest = offered_digest(catalog);
  out.digest = digest_of(to_json(catalog));
  out.count = count;
  if (view.catalog > 0 && view.catalog_digest == *out.digest) {
    out.same_as = state::log_ref(view.catalog);
    return out;
  }
  out.tools = std::move(catalog.tools);
  out.missing = std::move(catalog.missing);
  return out;
}

}  // namespace agentrt::control
