#include "validate/rule_context.h"

#include <algorithm>

#include "base/check.h"

namespace agentrt::validate {

namespace {

// Truncates ids and types, which may have any length in a foreign stream.
std::string clipped(std::string text) {
  if (text.size() <= kFindingTextMax) return text;
  std::size_t end = kFindingTextMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  return text + "...";
}

}  // namespace

void RuleContext::fail(std::string_view id, std::string what) {
  const Rule* rule = find_rule(id);
  check(rule != nullptr, "a finding names a rule");
  if (muted || (profile_ == Profile::core && rule->profile == Profile::full)) return;
  auto count = std::ranges::find(report_.counts, rule->id, &Report::Count::rule);
  if (count == report_.counts.end())
    count = report_.counts.insert(report_.counts.end(), {rule->id, 0});
  if (++count->times > kFindingsPerRule) return;
  report_.findings.push_back({.rule = rule->id,
                              .severity = rule->severity,
                              .line = event.line,
                              .session = clipped(event.head.session_id),
                              .sequence = event.head.sequence.value_or(0),
                              .type = clipped(event.head.type),
                              .event_id = clipped(event.head.event_id),
                              .what = clipped(std::move(what))});
}

}  // namespace agentrt::validate
