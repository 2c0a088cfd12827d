// control/policies.cc: decides policy changes by users: rules of a session, trust in files.
#include <algorithm>

#include <fmt/format.h>

#include "control/turn_facts.h"
#include "policy/folders.h"
#include "policy/rules.h"

namespace agentrt::control {

using namespace schema;

namespace {

constexpr std::size_t kTrustFilesMax = 64;

void add_rules(std::vector<PolicyRule>& to, RuleEffect effect,
               const std::optional<std::vector<std::string>>& rules) {
  for (const std::string& rule : rules.value_or(std::vector<std::string>{}))
    to.push_back({effect, rule, RuleOrigin::session});
}

// The session's own rules and, unless the caller's token is bound to the session, those that were
// granted to every session of its workspace.
std::vector<PolicyRule> removable_rules(const Session& view, const Inputs& inputs) {
  std::vector<PolicyRule> rules = view.granted;
  if (inputs.bound) return rules;
  for (const PolicyRule& rule : view.policy.rules)
    if (rule.origin == RuleOrigin::always && std::ranges::find(rules, rule) == rules.end())
      rules.push_back(rule);
  return rules;
}

std::optional<Error> forbidden_mode(const std::optional<PermissionMode>& mode,
                                    const Settings& settings) {
  if (!mode || std::ranges::find(settings.modes_forbidden, *mode) == settings.modes_forbidden.end())
    return std::nullopt;
  return Error{Code::forbidden,
               fmt::format("the managed configuration does not allow the mode {}", name_of(*mode)),
               {}};
}

std::size_t bytes_of(const std::vector<PolicyRule>& rules) {
  std::size_t bytes = 0;
  for (const PolicyRule& rule : rules) bytes += rule_bytes(rule);
  return bytes;
}

// The session's own rules after the command.
std::vector<PolicyRule> changed_rules(std::vector<PolicyRule> rules, const PolicyChanged& change) {
  for (const PolicyRule& gone : *change.removed)
    std::erase_if(rules, [&](const PolicyRule& rule) { return rule == gone; });
  for (const PolicyRule& rule : *change.added)
    if (std::ranges::find(rules, rule) == rules.end()) rules.push_back(rule);
  return rules;
}

}  // namespace

Decided set_policy(const Session& view, const SetPolicy& command, Inputs inputs) {
  if (!view.exists())
    return refuse(Code::not_found, fmt::format("there is no session {}", inputs.session.text()));
  if (auto error = forbidden_mode(command.mode, *inputs.settings)) return *error;
  PolicyChanged changed{.change = "rules"};
  changed.added.emplace();
  changed.removed.emplace();
  add_rules(*changed.added, RuleEffect::allow, command.allow);
  add_rules(*changed.added, RuleEffect::ask, command.ask);
  add_rules(*changed.added, RuleEffect::deny, command.deny);
  for (PolicyRule& rule : *changed.added) rule.granted_at = inputs.now;
  if (const auto compiled = policy::compile(*changed.added); !compiled)
    return refuse(Code::invalid_params, compiled.error().message);
  for (const std::string& rule : command.remove.value_or(std::vector<std::string>{})) {
    const std::size_t before = changed.removed->size();
    for (const PolicyRule& own : removable_rules(view, inputs))  // one per folder of a grant
      if (own.rule == rule) changed.removed->push_back(own);
    if (changed.removed->size() == before)
      return refuse(
          Code::not_found,
          fmt::format("neither the session nor its folder was granted the rule {}; rules of "
                      "configuration files cannot be removed",
                      rule));
  }
  std::vector<PolicyRule> rules = changed_rules(view.granted, changed);
  if (rules.size() > kPolicyRulesMax || bytes_of(rules) > kPolicyBytesMax)
    return refuse(Code::limit_exceeded,
                  fmt::format("a session can have at most {} rules with {} KiB of text",
                              kPolicyRulesMax, kPolicyBytesMax >> 10));
  if (rules == view.granted && changed.removed->empty() &&
      (!command.mode || command.mode == view.mode))
    return Unchanged{to_json(PolicyReply{view.id, std::move(rules), view.sequence})};
  changed.mode = command.mode;
  changed.source = "human";
  changed.reason = command.reason;
  changed.changed_by = inputs.principal;
  Facts facts{view, inputs};
  facts.add(facts.of_session(), std::move(changed));
  return accept(facts, PolicyReply{view.id, std::move(rules), 0});
}

Decided set_folder_policy(const Session& view, const SetFolderPolicy& command, Inputs inputs) {
  if (auto error = policy::wrong_folder("cwd", command.cwd)) return *error;
  if (auto error = forbidden_mode(command.mode, *inputs.settings)) return *error;
  const auto remove = command.remove.value_or(std::vector<std::string>{});
  if (remove.empty() && !command.mode)
    return refuse(Code::invalid_params, "expected remove or mode: nothing would change");
  if (remove.size() > kPolicyRulesMax)
    return refuse(Code::invalid_params, fmt::format("remove: at most {} at once", kPolicyRulesMax));
  Facts facts{view, inputs};
  // What holds for a folder belongs to no session: it is stored in the runtime's own.
  if (!view.exists()) facts.add(facts.of_session(), SessionCreated{.title = "runtime", .cwd = "/"});
  PolicyChanged changed{.change = remove.empty() ? "mode" : "rules"};
  changed.source = "human";
  changed.workspace = command.cwd;
  changed.mode = command.mode;
  if (!remove.empty()) changed.removed.emplace();
  // Without a folder: in whichever folder and session it was granted, also as a deny.
  for (const std::string& rule : remove)
    changed.removed->push_back({RuleEffect::allow, rule, RuleOrigin::always});
  changed.reason = command.reason;
  changed.changed_by = inputs.principal;
  facts.add(facts.of_session(), std::move(changed));
  return accept(facts, FolderPolicyReply{command.cwd, remove, command.mode, 0});
}

Decided trust_workspace(const Session& view, const TrustWorkspace& command, Inputs inputs) {
  if (auto error = policy::wrong_folder("cwd", command.cwd)) return *error;
  if (command.files.size() > kTrustFilesMax)
    return refuse(Code::invalid_params, fmt::format("files: expected at most {}", kTrustFilesMax));
  for (std::size_t i = 0; i < command.files.size(); ++i)
    if (!command.files[i].path.starts_with(command.cwd + "/") ||
        !command.files[i].digest.starts_with("sha256:"))
      return refuse(Code::invalid_params,
                    fmt::format("files[{}]: expected path and digest as returned by get_trust", i));
  Facts facts{view, inputs};
  // Trust belongs to no session, so it is stored in the runtime's own session.
  if (!view.exists()) facts.add(facts.of_session(), SessionCreated{.title = "runtime", .cwd = "/"});
  PolicyChanged changed{.change = "trusted"};
  changed.source = "human";
  changed.workspace = command.cwd;
  changed.files.emplace();
  for (const FileToTrust& file : command.files)
    changed.files->push_back({file.path, file.digest, file.trusted, false, file.effects});
  const std::vector<PolicyFile> files = *changed.files;
  changed.reason = command.reason;
  changed.changed_by = inputs.principal;
  facts.add(facts.of_session(), std::move(changed));
  return accept(facts, TrustReply{command.cwd, files, 0});
}

}  // namespace agentrt::control
