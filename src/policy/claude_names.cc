#include "policy/claude_names.h"

#include <algorithm>

#include <fmt/format.h>

#include "policy/hooks.h"
#include "tools/registry.h"

namespace agentrt::policy {

using schema::HookPoint;

namespace {

struct EventRow {
  std::string_view event;
  HookPoint point;
};
constexpr EventRow kEvents[] = {{"SessionStart", HookPoint::session_start},
                                {"UserPromptSubmit", HookPoint::user_prompt_submit},
                                {"PreToolUse", HookPoint::pre_tool_use},
                                {"PermissionRequest", HookPoint::permission_request},
                                {"PostToolUse", HookPoint::post_tool_use},
                                {"PostToolUseFailure", HookPoint::post_tool_failure},
                                {"Stop", HookPoint::stop}};

// The names without the unused places of their array.
void append_names(std::span<const std::string_view> from, std::vector<std::string_view>& to) {
  for (const std::string_view name : from)
    if (!name.empty()) to.push_back(name);
}

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

// Translates one alternative of a regular expression, which matches anywhere in a name unless it
// has ^ or $. The result may match more names than the original, never fewer: a guarding hook
// should run too often rather than too seldom.
std::optional<std::string> pattern_of(std::string_view part) {
  std::string out = part.starts_with('^') ? "" : "*";
  if (part.starts_with('^')) part.remove_prefix(1);
  const bool to_end = part.ends_with('$');
  if (to_end) part.remove_suffix(1);
  for (std::size_t i = 0; i < part.size(); ++i) {
    const char c = part[i];
    if (is_name(c))
      out += c;
    else if (c == '\\' && i + 1 < part.size() && (part[i + 1] == '.' || part[i + 1] == '-'))
      out += part[++i];
    else if (c == '\\' && i + 1 < part.size() && (part[i + 1] == 'w' || part[i + 1] == 'd'))
      out += '*', ++i;
    else if (c == '*' && !out.empty() && out.back() != '*')
      out.back() = '*';  // the character before it may be absent
    else if (c == '.' || c == '*' || c == '+')
      out += '*';
    else
      return std::nullopt;
  }
  return to_end ? out : out + "*";
}

// Splits (A|B) and ^(A|B)$ into the alternatives and the anchors around each.
struct Alternatives {
  std::string_view inner, before, after;
};
Alternatives ungrouped(std::string_view expression) {
  std::string_view inner = expression, before, after;
  if (inner.starts_with("^(")) before = "^", inner.remove_prefix(1);
  if (inner.ends_with(")$")) after = "$", inner.remove_suffix(1);
  if (!inner.starts_with('(') || !inner.ends_with(')')) return {expression, {}, {}};
  inner = inner.substr(1, inner.size() - 2);
  if (inner.starts_with("?:")) inner.remove_prefix(2);
  return {inner, before, after};
}

}  // namespace

std::optional<HookPoint> point_of_event(std::string_view event) {
  const auto* row = std::ranges::find(kEvents, event, &EventRow::event);
  if (row == std::end(kEvents)) return std::nullopt;
  return row->point;
}

std::string_view event_of_point(HookPoint point) {
  const auto* row = std::ranges::find(kEvents, point, &EventRow::point);
  return row == std::end(kEvents) ? schema::name_of(point) : row->event;
}

std::vector<std::string_view> names_for_claude(std::string_view tool) {
  std::vector<std::string_view> names;
  if (const tools::Tool* own = tools::find(tool))
    append_names(own->claude.tools, names);
  else if (const tools::ReservedName* reserved = tools::find_reserved(tool))
    append_names(reserved->claude_hooks, names);
  if (names.empty()) names.push_back(tool);
  return names;
}

std::optional<std::string> matcher_of_claude(std::string_view expression) {
  if (expression.empty() || expression == "*") return "";
  const auto [inner, before, after] = ungrouped(expression);
  const bool plain = std::ranges::all_of(
      inner, [](char c) { return is_name(c) || c == '|' || c == ' ' || c == ','; });
  std::string out;
  for (std::size_t at = 0; at <= inner.size();) {
    const std::size_t bar = std::min(inner.find_first_of(plain ? "|," : "|", at), inner.size());
    std::string_view part = inner.substr(at, bar - at);
    at = bar + 1;
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    std::optional<std::string> pattern =
        plain ? std::string(part) : pattern_of(fmt::format("{}{}{}", before, part, after));
    if (!pattern) return std::nullopt;
    out += (out.empty() ? "" : "|") + *pattern;
  }
  if (!is_matcher(out)) return std::nullopt;
  return out;
}

std::span<const tools::NamePair> arguments_for_claude(std::string_view tool) {
  const tools::Tool* own = tools::find(tool);
  return own ? own->claude.arguments : std::span<const tools::NamePair>{};
}

std::optional<std::string_view> tool_in_claude_rules(std::string_view name) {
  if (name.empty()) return std::nullopt;
  for (const tools::Tool& tool : tools::all())
    if (tool.rules != tools::RuleForm::arguments &&
        std::ranges::find(tool.claude.tools, name) != tool.claude.tools.end())
      return tool.name;
  return std::nullopt;
}

}  // namespace agentrt::policy
