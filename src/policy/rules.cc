#include "policy/rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/near_names.h"
#include "policy/claude_names.h"
#include "policy/paths.h"
#include "policy/shell/syntax.h"
#include "tools/registry.h"

namespace agentrt::policy {
namespace {

using schema::RuleEffect;

constexpr auto kNone = std::string_view::npos;

// The names that a rule may begin with, except those of MCP tools.
std::vector<std::string> tool_names() {
  std::vector<std::string> names;
  for (const tools::Tool& tool : tools::all()) names.emplace_back(tool.name);
  return names;
}

std::unexpected<Error> unreadable(const schema::PolicyRule& rule, std::string_view what) {
  return fail(Code::invalid_params,
              fmt::format("The {} rule {} is not valid: {}{}", schema::name_of(rule.effect),
                          rule.rule, what, what.ends_with('?') ? "" : "."));
}

// --- the quoted form ---

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

void append_utf8(std::string& out, unsigned code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xE0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

// The value of a JSON string; nullopt: `quoted` is not exactly one JSON string.
std::optional<std::string> unquoted(std::string_view quoted) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
  if (quoted.size() < 2 || quoted.front() != '"' || quoted.back() != '"') return std::nullopt;
  quoted = quoted.substr(1, quoted.size() - 2);
  std::string out;
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    if (quoted[i] == '"') return std::nullopt;
    if (quoted[i] != '\\') {
      out += quoted[i];
      continue;
    }
    if (++i >= quoted.size()) return std::nullopt;
    if (const auto at = kLetters.find(quoted[i]); at != kNone) {
      out += kValues[at];
      continue;
    }
    if (quoted[i] != 'u' || i + 4 >= quoted.size()) return std::nullopt;
    unsigned code = 0;
    for (int digit = 0; digit < 4; ++digit) {
      const int value = hex_digit(quoted[++i]);
      if (value < 0) return std::nullopt;
      code = code * 16 + static_cast<unsigned>(value);
    }
    if (code == 0 || (code >= 0xD800 && code < 0xE000)) return std::nullopt;
    append_utf8(out, code);
  }
  return out;
}

// --- parsing one rule ---

// Removes `, outside` from the end and returns whether it was there. Inside the quotes of tool("…")
// it is part of the text.
bool take_outside(std::string_view& inside) {
  constexpr std::string_view kWord = "outside";
  if (!inside.ends_with(kWord)) return false;
  std::string_view before = inside.substr(0, inside.size() - kWord.size());
  const std::size_t end = before.find_last_not_of(' ');
  if (end == kNone || before[end] != ',') return false;
  before = before.substr(0, end);
  inside = before.substr(0, before.find_last_not_of(' ') + 1);
  return true;
}

Result<Rule> read_shell(Rule rule, std::string_view inside) {
  const bool prefix = inside.ends_with(":*");
  if (prefix) inside.remove_suffix(2);
  rule.kind = prefix ? Rule::Kind::prefix : Rule::Kind::words;
  const auto words = shell::plain_words(inside);
  if (!words && inside.ends_with(" *"))
    return unreadable(rule.source, fmt::format("to allow any arguments write shell({}:*)",
                                               inside.substr(0, inside.size() - 2)));
  if (!words)
    return unreadable(rule.source,
                      "write the words of one command without operators, patterns or variables, or "
                      "an exact command line as shell(\"…\")");
  if (words->empty())
    return unreadable(
        rule.source,
        "write shell for every command, or shell(words:*) for those that start with these words");
  rule.words = *words;
  return rule;
}

Result<Rule> read_path(Rule rule, std::string_view inside) {
  rule.kind = Rule::Kind::path;
  rule.pattern = inside;
  const bool climbs = inside == ".." || inside.starts_with("../") || inside.ends_with("/..") ||
                      inside.contains("/../");
  if (climbs) return unreadable(rule.source, "write the path without ..");
  if (inside.starts_with('~') && inside != "~" && !inside.starts_with("~/"))
    return unreadable(rule.source, "write ~/ for your home folder, or an absolute path");
  if (inside.ends_with(":*")) return unreadable(rule.source, "end a path pattern with /**, not :*");
  if (inside.find_first_of("[]{}") != kNone)
    return unreadable(rule.source, "a path pattern may contain *, ** and ?, but no [] or {}");
  return rule;
}

Result<Rule> read_host(Rule rule, std::string_view inside) {
  rule.kind = Rule::Kind::host;
  if (inside.starts_with("domain:")) inside.remove_prefix(7);
  rule.pattern = host_of(inside);
  std::string_view name = rule.pattern;
  if (name.starts_with("*.")) name.remove_prefix(2);
  if (name.empty() || name.contains('*') || inside.find_first_of("/:@ ") != kNone)
    return unreadable(rule.source, "write a host such as example.com or *.example.com");
  return rule;
}

// What to write instead of a rule about a tool that does not exist.
std::string for_unknown_tool(const schema::PolicyRule& source, const std::string& tool) {
  const std::string unknown =
      fmt::format("there is no tool {}", tool.empty() ? std::string("without a name") : tool);
  if (const auto ours = rule_from_claude(source.rule))
    return fmt::format("{}; write {}", unknown, *ours);
  const std::vector<std::string> all = tool_names();
  if (const auto near = near_names(tool, all); !near.empty())
    return fmt::format("{}; did you mean {}?", unknown, fmt::join(near, " or "));
  return fmt::format("{}; the tools are {} and mcp__SERVER__TOOL", unknown, fmt::join(all, ", "));
}

bool may_name(const std::string& tool, ToolNames names) {
  return tools::find(tool) || (names == ToolNames::reserved_too && tools::find_reserved(tool));
}

Result<Rule> read_rule(const schema::PolicyRule& source, ToolNames names) {
  Rule rule{.source = source,
            .tool = {},
            .kind = Rule::Kind::tool,
            .words = {},
            .pattern = {},
            .outside = false};
  const std::string_view text = source.rule;
  const std::size_t open = text.find('(');
  rule.tool = text.substr(0, open);
  const bool mcp = rule.tool.starts_with("mcp__");
  if (!mcp && !may_name(rule.tool, names))
    return unreadable(source, for_unknown_tool(source, rule.tool));
  if (mcp && rule.tool.find("__", 5) == std::string::npos && !rule.tool.ends_with('*'))
    rule.tool += "__*";
  if (rule.tool.find_first_of(" \t*") < rule.tool.size() - 1)
    return unreadable(source, "a tool name may contain * only at the end of an MCP name");
  if (open == kNone) return rule;
  if (!text.ends_with(')')) return unreadable(source, "the parenthesis is not closed");
  std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  const tools::RuleForm form = tools::rule_form_of(rule.tool);
  if (form == tools::RuleForm::command) rule.outside = take_outside(inside);
  if (inside == "*") return rule;
  if (auto exact = unquoted(inside)) {
    rule.kind = Rule::Kind::text;
    rule.pattern = std::move(*exact);
    return rule;
  }
  if (inside.empty())
    return unreadable(source, fmt::format("write {} for every call of it", rule.tool));
  switch (form) {
    case tools::RuleForm::command:
      return read_shell(std::move(rule), inside);
    case tools::RuleForm::path:
      return read_path(std::move(rule), inside);
    case tools::RuleForm::host:
      return read_host(std::move(rule), inside);
    case tools::RuleForm::arguments:
      break;
  }
  return unreadable(source, fmt::format("write {} for every call, or its exact arguments as "
                                        "{}(\"…\")",
                                        rule.tool, rule.tool));
}

}  // namespace

Result<Rules> compile(const std::vector<schema::PolicyRule>& rules, ToolNames names) {
  Rules out;
  for (const schema::PolicyRule& source : rules) {
    TRY_ASSIGN(Rule rule, read_rule(source, names));
    out.all.push_back(std::move(rule));
  }
  return out;
}

std::string text_rule(std::string_view tool, std::string_view text, Reach reach) {
  std::string out = fmt::format("{}(\"", tool);
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out.append({'\\', c});
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + (reach == Reach::outside ? "\", outside)" : "\")");
}

std::optional<std::string> rule_from_claude(std::string_view rule) {
  const std::size_t open = rule.find('(');
  const std::string_view name = rule.substr(0, open);
  if (name.starts_with("mcp__")) return std::string(rule);
  const auto known = tool_in_claude_rules(name);
  if (!known) return std::nullopt;
  const std::string ours(*known);
  if (open != kNone && !rule.ends_with(')')) return std::nullopt;
  std::string inside;
  if (open != kNone) inside = rule.substr(open + 1, rule.size() - open - 2);
  const bool whole = inside.empty() || inside == "*" || inside == ":*";
  const tools::RuleForm form = tools::rule_form_of(ours);
  if (form == tools::RuleForm::command && inside.ends_with(" *"))
    inside.replace(inside.size() - 2, 2, ":*");
  if (form == tools::RuleForm::path) {
    if (inside.starts_with("//"))
      inside.erase(0, 1);
    else if (inside.starts_with('/'))
      inside.insert(0, ".");
  }
  std::string made = whole ? ours : ours + "(" + inside + ")";
  // Accept only rules that our parser accepts. Claude Code rules cannot mean `outside`.
  const auto read = compile({{RuleEffect::ask, made, schema::RuleOrigin::user}});
  if (!read || read->all.front().outside) return std::nullopt;
  return made;
}

bool is_file_tool(std::string_view tool) {
  return tools::rule_form_of(tool) == tools::RuleForm::path;
}

bool is_about(const Rule& rule, std::string_view tool) {
  if (rule.tool == tool) return true;
  if (rule.tool.ends_with('*'))
    return tool.starts_with(std::string_view(rule.tool).substr(0, rule.tool.size() - 1));
  if (rule.source.effect == RuleEffect::allow) return false;
  const tools::Tool* own = tools::find(tool);
  return own && std::ranges::find(own->also_denied_by, rule.tool) != own->also_denied_by.end();
}

bool fits_path(const Rule& rule, std::string_view path, const Folders& folders) {
  const std::string pattern = normal_path(rule.pattern, folders.workspace, folders.home);
  if (path_fits(path, pattern)) return true;
  const bool folder = rule.pattern.ends_with('/') || rule.source.effect != RuleEffect::allow;
  return folder && path_fits(path, pattern == "/" ? "/**" : pattern + "/**");
}

}  // namespace agentrt::policy
