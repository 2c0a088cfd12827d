#include "policy/permission.h"

#include <algorithm>

#include <fmt/format.h>

#include "policy/laxity.h"
#include "policy/modes.h"
#include "policy/paths.h"
#include "policy/shell_rules.h"
#include "tools/read_file.h"
#include "tools/registry.h"

namespace agentrt::policy {
namespace {

using schema::Decision;
using schema::DecisionSource;
using schema::RuleEffect;
using schema::Verdict;

Decision decision_of(RuleEffect effect) {
  if (effect == RuleEffect::deny) return Decision::deny;
  return effect == RuleEffect::ask ? Decision::ask : Decision::allow;
}

int force(Decision decision) {
  switch (decision) {
    case Decision::deny:
      return 3;
    case Decision::ask:
    case Decision::unavailable:
      return 2;
    case Decision::allow:
    case Decision::sandboxed:
      return 1;
  }
  return 3;
}

std::vector<std::string> paths_of(const Asked& asked, const std::string& home) {
  std::vector<std::string> out{normal_path(asked.text, asked.cwd, home)};
  if (asked.real_path) out.push_back(normal_path(*asked.real_path, asked.cwd, home));
  return out;
}

// Whether a path rule matches one normal path.
bool fits_one(const Rule& rule, std::string_view path, const Folders& folders) {
  return rule.kind == Rule::Kind::text ? path == rule.pattern : fits_path(rule, path, folders);
}

// An allow rule must match the path as written and the path that it resolves to; a deny or ask rule
// need match only one of them.
bool fits_paths(const Rule& rule, const Asked& asked, const std::string& home) {
  const Folders folders{asked.workspace, home};
  const auto fits = [&](const std::string& path) { return fits_one(rule, path, folders); };
  const std::vector<std::string> paths = paths_of(asked, home);
  if (rule.source.effect == RuleEffect::allow)
    return std::ranges::all_of(paths, fits) && (asked.real_path || !climbs(asked.text));
  return std::ranges::any_of(paths, fits);
}

// A deny or ask rule for a host also applies to the hosts below it.
bool fits_host(const Rule& rule, const Asked& asked) {
  const std::string host = host_of(asked.text);
  if (host_fits(host, rule.pattern)) return true;
  return rule.source.effect != RuleEffect::allow && host_fits(host, "*." + rule.pattern);
}

bool fits(const Rule& rule, const Asked& asked, const std::string& home) {
  switch (rule.kind) {
    case Rule::Kind::tool:
      return true;
    case Rule::Kind::text:
      return is_file_tool(asked.tool) ? fits_paths(rule, asked, home) : rule.pattern == asked.text;
    case Rule::Kind::path:
      return fits_paths(rule, asked, home);
    case Rule::Kind::host:
      return fits_host(rule, asked);
    case Rule::Kind::words:
    case Rule::Kind::prefix:
      return false;
  }
  return false;
}

// Denies every call if the rules are not valid.
Verdict unreadable_verdict(const Error& error) {
  return {DecisionSource::host_policy, Decision::deny, std::nullopt, error.message};
}

// Why no answer and no rule lets a file tool open its path: it is in none of the session's folders,
// which are fixed when the session is created. By the letters of the path; the file tool itself
// finds out where a link leads.
std::optional<std::string> unreachable(const Asked& asked, const std::string& home) {
  if (!is_file_tool(asked.tool)) return std::nullopt;
  const std::string path = normal_path(asked.text, asked.cwd, home);
  const auto holds = [&](const std::string& root) { return is_within(path, root); };
  if (holds(asked.workspace) || std::ranges::any_of(asked.roots, holds)) return std::nullopt;
  const tools::Tool* tool = tools::find(asked.tool);
  const std::string folder = tool && tool->path.one_file ? path.substr(0, path.rfind('/')) : path;
  return fmt::format(
      "{} is outside the folders of this session, and no approval changes that; to give access, "
      "start a session with --add-dir {}.",
      path, folder.empty() ? "/" : folder);
}

// Adds the verdicts of the rules on a call that is no shell text.
void ask_rules(const Asked& asked, const Effective& policy, std::vector<Verdict>& chain) {
  for (const Rule& rule : policy.rules->all)
    if (is_about(rule, asked.tool) && fits(rule, asked, policy.home))
      chain.push_back(rule_verdict(rule, decision_of(rule.source.effect),
                                   fmt::format("The rule {} matches.", rule.source.rule)));
}

// Whether the call is to leave a sandbox. With full_access there is none to leave.
bool leaves_sandbox(const Asked& asked, const Effective& policy) {
  return asked.escalation == Escalation::outside_sandbox &&
         policy.sandbox != schema::SandboxMode::full_access;
}

// The strongest verdict. Between equal ones the first wins, but the mode's verdict last. An ask by
// the mode counts less than any allow. An allow by a hook does not let a command leave the sandbox.
const Verdict& strongest(const std::vector<Verdict>& chain, bool leaves) {
  const Verdict* best = &chain.front();
  const auto weight = [&](const Verdict& verdict) {
    const bool mode_asks =
        verdict.source == DecisionSource::mode && verdict.verdict == Decision::ask;
    const bool lets_out =
        leaves && verdict.source == DecisionSource::hook && force(verdict.verdict) == 1;
    return mode_asks || lets_out ? 0 : force(verdict.verdict);
  };
  for (const Verdict& verdict : chain) {
    const bool explicit_word =
        best->source == DecisionSource::mode && verdict.source != DecisionSource::mode;
    if (weight(verdict) > weight(*best) ||
        (explicit_word && weight(verdict) == weight(*best) && weight(verdict) > 0))
      best = &verdict;
  }
  return *best;
}

void decide(const Asked& asked, const Effective& policy, Judgement& out) {
  const Verdict& verdict = strongest(out.chain, leaves_sandbox(asked, policy));
  out.decision = verdict.verdict;
  out.source = verdict.source;
  out.reason = verdict.reason.value_or("");
  for (const Verdict& other : out.chain)
    if (other.rule && other.verdict == verdict.verdict &&
        std::ranges::find(out.rule_refs, *other.rule) == out.rule_refs.end())
      out.rule_refs.push_back(*other.rule);
  out.granted = out.granted && out.decision == Decision::allow;
  out.pending = out.pending && out.decision == Decision::ask && out.source == DecisionSource::mode;
  if (out.pending) {
    out.reason =
        "A person approved this command earlier. Whether its folder and files are still the same "
        "is checked when it is called.";
    return;
  }
  const bool mode_asks = traits_of(policy.mode).asks_people;
  if (out.decision == Decision::ask && !(mode_asks && policy.asks_people())) {
    out.decision = Decision::unavailable;
    out.source = DecisionSource::mode;
    out.reason = fmt::format(
        "The call needs the approval of a person, but {}: {}",
        mode_asks ? "this run is not interactive" : "the mode never does not ask", out.reason);
  }
}

// Whether the call names a folder that is, or may be, another one than the workspace.
bool goes_elsewhere(const Asked& asked) {
  return asked.folder && (climbs(*asked.folder) || normal_path(asked.cwd, "/", "/") !=
                                                       normal_path(asked.workspace, "/", "/"));
}

// The text with a cd to the call's folder in front.
std::string text_with_folder(const Asked& asked) {
  std::string quoted = "'";
  for (const char c : *asked.folder) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return fmt::format("cd {}{}' && {}", asked.folder->starts_with('-') ? "-- " : "", quoted,
                     asked.text);
}

void find_executed(const Asked& asked, const std::string& home, const shell::Analysis& analysis,
                   Judgement& out) {
  const shell::Executed executed = shell::find_executed(analysis);
  for (const std::string& file : executed.files) {
    std::string path = normal_path(file, asked.cwd, home);
    const bool known = std::ranges::find(out.executes, path) != out.executes.end();
    const auto holds = [&](const std::string& root) { return is_within(path, root); };
    if (!known && (holds(asked.workspace) || std::ranges::any_of(asked.roots, holds)))
      out.executes.push_back(std::move(path));
  }
  out.executes_unknown = executed.unknown;
  if (out.executes.size() <= kExecutedFilesMax) return;
  out.executes.resize(kExecutedFilesMax);
  out.executes_unknown = fmt::format(
      "only the first {} of the executed files are checked for changes", kExecutedFilesMax);
}

// Adds the classifier's allow if it rates the risk as low; otherwise returns why it does not.
std::optional<std::string> ask_classifier(const shell::Analysis& analysis, const Effective& policy,
                                          const Ground& ground, Judgement& out) {
  const bool free = policy.sandbox == schema::SandboxMode::full_access;
  const auto risk =
      shell::judge_risk(analysis, free ? shell::Confined::no : shell::Confined::yes, ground);
  if (!risk.low) return risk.reason;
  out.chain.push_back({DecisionSource::classifier, Decision::allow, std::nullopt,
                       "The classifier rates the risk as low: " + risk.reason + "."});
  return std::nullopt;
}

void judge_shell(const Asked& asked, const Effective& policy, const Evidence& evidence,
                 Judgement& out) {
  const bool elsewhere = goes_elsewhere(asked);
  const std::string text = elsewhere ? text_with_folder(asked) : asked.text;
  const shell::Analysis analysis = shell::analyse(text);
  for (const shell::Part& part : analysis.parts) out.subcommands.push_back(part.text());
  out.destructive = shell::find_destructive(analysis);
  find_executed(asked, policy.home, elsewhere ? shell::analyse(asked.text) : analysis, out);
  const bool leaves = leaves_sandbox(asked, policy);
  out.chain.push_back(leaves ? leaving_mode_verdict(policy) : shell_mode_verdict(policy));
  ShellWord word =
      ask_shell_rules({text, asked.text, leaves, evidence.now}, analysis, *policy.rules, out.chain);
  out.granted = word.granted;
  out.pending = word.pending;
  if (traits_of(policy.mode).classifies && !analysis.over_limit && !leaves) {
    const Ground ground{elsewhere ? asked.workspace : asked.cwd, asked.workspace, policy.home};
    const auto why = ask_classifier(analysis, policy, ground, out);
    if (why && !word.changed) word.gap = why;
  }
  Verdict& mode = out.chain.front();
  if (mode.verdict == Decision::ask && word.gap)
    mode.reason = fmt::format("{} Cause: {}.", *mode.reason, *word.gap);
}

// Whether the rule applies to every command, and not only to commands that leave the sandbox.
bool is_about_all_commands(const Rule& rule, std::string_view tool) {
  return rule.tool == tool && rule.kind == Rule::Kind::tool &&
         (rule.source.effect == RuleEffect::allow || !rule.outside);
}

// Judges a command whose text is unknown: by the mode and by the rules about all commands.
Judgement judge_any_command(std::string_view tool, const Effective& policy) {
  const Asked asked{.tool = std::string(tool)};
  Judgement out;
  out.chain.push_back(shell_mode_verdict(policy));
  for (const Rule& rule : policy.rules->all)
    if (is_about_all_commands(rule, tool))
      out.chain.push_back(rule_verdict(rule, decision_of(rule.source.effect), ""));
  if (policy.unreadable) out.chain.push_back(unreadable_verdict(*policy.unreadable));
  decide(asked, policy, out);
  return out;
}

std::string joined(const std::vector<std::string>& words) {
  return words.empty() ? std::string("none") : fmt::format("{}", fmt::join(words, ", "));
}

// Why the subagent may not write at this path; nullopt: it may, or it is no subagent.
std::optional<std::string> unwritable(const Effective& policy, std::string_view path) {
  if (!policy.write_roots) return std::nullopt;
  const auto holds = [&](const std::string& root) { return is_within(path, root); };
  if (std::ranges::any_of(*policy.write_roots, holds)) return std::nullopt;
  return fmt::format("{} is outside the folders that this subagent may write in ({}).", path,
                     joined(*policy.write_roots));
}

// What the subagent was not given when it was spawned, and no answer can add.
std::optional<std::string> withheld(const Asked& asked, const Effective& policy) {
  if (policy.tools && !has_tool(policy, asked.tool))
    return fmt::format("This turn may call only these tools: {}.", joined(*policy.tools));
  if (!policy.write_roots) return std::nullopt;
  if (asked.escalation == Escalation::outside_sandbox)
    return "A subagent with write roots cannot leave the sandbox.";
  if (asked.access != Access::changes || !is_file_tool(asked.tool)) return std::nullopt;
  return unwritable(policy, normal_path(asked.text, asked.cwd, policy.home));
}

Judgement judge_alone(const Asked& asked, const Effective& policy, const Evidence& evidence) {
  Judgement out;
  if (tools::rule_form_of(asked.tool) == tools::RuleForm::command) {
    judge_shell(asked, policy, evidence, out);
  } else {
    if (auto reason = unreachable(asked, policy.home))
      out.chain.push_back({DecisionSource::mode, Decision::deny, std::nullopt, std::move(reason)});
    else
      out.chain.push_back(tool_mode_verdict(asked, policy));
    ask_rules(asked, policy, out.chain);
  }
  out.chain.insert(out.chain.end(), evidence.said.begin(), evidence.said.end());
  if (auto reason = withheld(asked, policy))
    out.chain.push_back({DecisionSource::mode, Decision::deny, std::nullopt, std::move(reason)});
  if (policy.unreadable) out.chain.push_back(unreadable_verdict(*policy.unreadable));
  decide(asked, policy, out);
  return out;
}

// 0: it runs; 1: it runs if a grant still fits; then asking, no one to ask, and denial.
int strictness(const Judgement& judgement) {
  switch (judgement.decision) {
    case Decision::allow:
    case Decision::sandboxed:
      return 0;
    case Decision::ask:
      return judgement.pending ? 1 : 2;
    case Decision::unavailable:
      return 3;
    case Decision::deny:
      break;
  }
  return 4;
}

// Takes the decision of the parent's policy where it is the stricter one.
Judgement stricter(Judgement own, Judgement parent) {
  const bool granted = own.granted || parent.granted;
  if (strictness(parent) > strictness(own)) {
    own.decision = parent.decision;
    own.source = parent.source;
    own.reason = "By the policy of the agent that spawned this subagent: " + parent.reason;
    own.rule_refs = std::move(parent.rule_refs);
    own.pending = parent.pending;
    own.chain.insert(own.chain.end(), parent.chain.begin(), parent.chain.end());
  }
  own.granted = granted && strictness(own) == 0;
  return own;
}

}  // namespace

Judgement judge(const Asked& asked, const Effective& policy, const Evidence& evidence) {
  Judgement out = judge_alone(asked, policy, evidence);
  if (!policy.parent || out.decision == Decision::deny) return out;
  return stricter(std::move(out), judge(asked, *policy.parent, evidence));
}

Decision general_decision(std::string_view tool, Access access, const std::string& workspace,
                          const Effective& policy) {
  if (tools::rule_form_of(tool) == tools::RuleForm::command) {
    Judgement out = judge_any_command(tool, policy);
    if (!has_tool(policy, tool)) return Decision::deny;
    if (policy.parent) {
      Judgement parent;
      parent.decision = general_decision(tool, access, workspace, *policy.parent);
      out = stricter(std::move(out), std::move(parent));
    }
    return out.decision;
  }
  const Asked asked{.tool = std::string(tool),
                    .text = is_file_tool(tool) ? "." : "{}",
                    .cwd = workspace,
                    .workspace = workspace,
                    .access = access};
  return judge(asked, policy).decision;
}

std::vector<std::string> executed_files(const Asked& asked, const std::string& home) {
  Judgement out;
  find_executed(asked, home, shell::analyse(asked.text), out);
  return std::move(out.executes);
}

std::vector<std::string> overwritten_files(std::string_view text, const std::string& cwd) {
  std::vector<std::string> files = shell::find_overwritten(shell::analyse(text));
  if (files.size() > kExecutedFilesMax) return {};
  for (std::string& file : files) file = normal_path(file, cwd, "/");
  return files;
}

std::string exact_rule(const Asked& asked, const std::string& home) {
  if (is_file_tool(asked.tool))
    return text_rule(asked.tool, normal_path(asked.text, asked.cwd, home));
  return text_rule(
      asked.tool, asked.text,
      asked.escalation == Escalation::outside_sandbox ? Reach::outside : Reach::sandbox);
}

std::vector<std::string> denied_paths(const Rules& rules, const Folders& folders) {
  std::vector<std::string> out;
  for (const Rule& rule : rules.all) {
    if (rule.source.effect != RuleEffect::deny || !is_about(rule, tools::kReadFile.name)) continue;
    if (rule.kind != Rule::Kind::path && rule.kind != Rule::Kind::text) continue;
    std::string path = normal_path(rule.pattern, folders.workspace, folders.home);
    while (path.ends_with("/**")) path.erase(path.size() - 3);
    if (path.empty() || is_pattern(path)) continue;
    if (std::ranges::find(out, path) == out.end()) out.push_back(std::move(path));
  }
  return out;
}

std::vector<std::string> denied_paths(const Effective& policy, const std::string& workspace) {
  std::vector<std::string> out = denied_paths(*policy.rules, {workspace, policy.home});
  if (!policy.parent) return out;
  for (std::string& path : denied_paths(*policy.parent, workspace))
    if (std::ranges::find(out, path) == out.end()) out.push_back(std::move(path));
  return out;
}

std::optional<std::string> path_refusal(const Effective& policy, const std::string& workspace,
                                        std::string_view tool, std::string_view called,
                                        std::string_view real_path) {
  auto why = path_refusal(*policy.rules, {workspace, policy.home}, tool, called, real_path);
  if (!why && tools::access_of(tool) != tools::Access::read) why = unwritable(policy, real_path);
  if (!why && policy.parent) why = path_refusal(*policy.parent, workspace, tool, called, real_path);
  return why;
}

std::optional<std::string> path_refusal(const Rules& rules, const Folders& folders,
                                        std::string_view tool, std::string_view called,
                                        std::string_view real_path) {
  const std::string called_path = normal_path(called, folders.workspace, folders.home);
  for (const Rule& rule : rules.all) {
    const RuleEffect effect = rule.source.effect;
    const bool denies_reading = effect == RuleEffect::deny && is_about(rule, tools::kReadFile.name);
    if (effect == RuleEffect::allow || !(is_about(rule, tool) || denies_reading)) continue;
    if (rule.kind != Rule::Kind::path && rule.kind != Rule::Kind::text) continue;
    if (!fits_one(rule, real_path, folders)) continue;
    if (effect == RuleEffect::ask && fits_one(rule, called_path, folders)) continue;
    return fmt::format("The {} rule {} does not let {} access {}.", schema::name_of(effect),
                       rule.source.rule, tool, real_path);
  }
  return std::nullopt;
}

}  // namespace agentrt::policy
