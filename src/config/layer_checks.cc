#include "config/layer_checks.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/url.h"
#include "policy/folders.h"
#include "policy/rules.h"

namespace agentrt::config {

namespace {

// An invalid rule is never ignored; it is an error that names its line.
Result<void> check_rules(const std::string& path, const char* key, schema::RuleEffect effect,
                         const std::optional<Given<std::vector<std::string>>>& given) {
  if (!given) return {};
  std::vector<schema::PolicyRule> rules;
  for (const std::string& rule : given->value) rules.push_back({effect, rule});
  if (const auto compiled = policy::compile(rules); !compiled)
    return wrong_at(path, given->line, std::string(key) + ":", compiled.error().message);
  return {};
}

// Bash itself obeys these, so with another value it would run other commands than those that were
// judged.
bool changes_bash(std::string_view name) {
  static const std::set<std::string_view> kNames = {
      "BASHOPTS", "BASH_COMPAT", "BASH_ENV",        "CDPATH", "ENV", "GLOBIGNORE", "HOME",
      "IFS",      "OLDPWD",      "POSIXLY_CORRECT", "PS4",    "PWD", "SHELLOPTS"};
  return kNames.contains(name) || name.starts_with("BASH_FUNC_");
}

bool is_variable_name(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (name.empty() || !letter(name.front())) return false;
  return std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace

Result<void> check_permissions(const ConfigLayer& layer) {
  TRY(check_rules(layer.path, "permissions.allow", schema::RuleEffect::allow, layer.allow));
  TRY(check_rules(layer.path, "permissions.ask", schema::RuleEffect::ask, layer.ask));
  return check_rules(layer.path, "permissions.deny", schema::RuleEffect::deny, layer.deny);
}

Result<void> check_context(const ConfigLayer& layer) {
  if (const auto& at = layer.compact_at; at && (at->value < 0.1 || at->value > 0.95))
    return wrong_at(layer.path, at->line, "context.compact_at", "must be from 0.1 to 0.95.");
  if (const auto& ms = layer.compact_timeout_ms; ms && (ms->value < 1 || ms->value > 3'600'000))
    return wrong_at(layer.path, ms->line, "context.compact_timeout_ms",
                    "must be from 1 to 3,600,000.");
  return {};
}

Result<void> check_roots(const ConfigLayer& layer) {
  if (!layer.roots) return {};
  for (const std::string& root : layer.roots->value)
    if (policy::wrong_folder("", root))
      return wrong_at(layer.path, layer.roots->line, "sandbox.roots",
                      fmt::format("contains \"{}\"; use absolute paths of folders.", root));
  return {};
}

Result<void> check_write(const ConfigLayer& layer) {
  if (!layer.write) return {};
  const auto wrong = [&](const std::string& rest) {
    return wrong_at(layer.path, layer.write->line, "sandbox.write", rest);
  };
  if (layer.write->value.size() > kWriteFoldersMax)
    return wrong(fmt::format("has more than {} folders.", kWriteFoldersMax));
  for (const std::string& folder : layer.write->value) {
    const bool of_home = folder.starts_with("~/") && folder.size() > 2;
    if (folder == "/" || (!of_home && policy::wrong_folder("", folder)))
      return wrong(fmt::format(
          "contains \"{}\"; use absolute paths of folders, or ~/FOLDER, and not /.", folder));
  }
  return {};
}

Result<void> check_shell_env(const ConfigLayer& layer) {
  if (!layer.shell_env) return {};
  const auto wrong = [&](const std::string& rest) {
    return wrong_at(layer.path, layer.shell_env->line, "shell.env", rest);
  };
  if (layer.shell_env->value.size() > kShellVariablesMax)
    return wrong(fmt::format("has more than {} variables.", kShellVariablesMax));
  for (const auto& [name, value] : layer.shell_env->value) {
    if (!is_variable_name(name))
      return wrong(fmt::format("contains \"{}\", which is not the name of a variable.", name));
    if (changes_bash(name))
      return wrong(fmt::format("contains {}, which changes how bash reads commands.", name));
    if (value.size() > kShellValueBytesMax || value.contains('\0'))
      return wrong(fmt::format("{}: the value must be text of at most {} bytes.", name,
                               kShellValueBytesMax));
  }
  return {};
}

Result<void> check_origins(const ConfigLayer& layer) {
  if (!layer.origins) return {};
  for (const std::string& origin : layer.origins->value) {
    const auto url = parse_url(origin);
    if (!url || url->origin() != origin)
      return wrong_at(
          layer.path, layer.origins->line, "server.origins",
          fmt::format("has {}, which is not an origin such as https://app.example.", origin));
  }
  return {};
}

Result<void> check_mcp(const ConfigLayer& layer) {
  const auto& given = layer.client_metadata_url;
  const auto url = given ? parse_url(given->value) : std::nullopt;
  if (!given || (url && url->scheme == "https" && url->path.size() > 1 && !url->has_fragment))
    return {};
  return wrong_at(layer.path, given->line, "mcp.client_metadata_url",
                  "must be an https URL with a path.");
}

}  // namespace agentrt::config
