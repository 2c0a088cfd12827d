#include "policy/shell_rules.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "tools/registry.h"

namespace agentrt::policy {
namespace {

using schema::Decision;
using schema::DecisionSource;
using schema::RuleEffect;
using schema::Verdict;
using shell::Hazard;
using shell::Part;

constexpr std::size_t kShownDigits = 12;  // of a digest, shown in messages for comparison

bool is_of_words(const Rule& rule) {
  return rule.kind == Rule::Kind::words || rule.kind == Rule::Kind::prefix;
}

std::string named(const std::optional<std::string>& digest) {
  return digest ? digest->substr(0, digest->find(':') + 1 + kShownDigits) : "unknown";
}

// Why a grant does not cover what would run now; nullopt: it does.
std::optional<std::string> grant_gap(const schema::PolicyRule& grant, const schema::Binding& now) {
  if (grant.cwd->empty())
    return "the earlier approval does not record a folder and file contents, so it must be given "
           "again";
  if (*grant.cwd != now.cwd)
    return fmt::format("it was approved in {}, but would run in {}", *grant.cwd, now.cwd);
  const auto granted = grant.executes.value_or(std::vector<schema::ExecutedFile>{});
  for (const schema::ExecutedFile& file : now.files) {
    const auto then = std::ranges::find(granted, file.path, &schema::ExecutedFile::path);
    if (then == granted.end())
      return fmt::format("it executes {}, which the earlier approval does not cover", file.path);
    if (!then->digest || !file.digest)
      return fmt::format("{} cannot be compared with the approved version", file.path);
    if (*then->digest != *file.digest)
      return fmt::format("{} has changed since it was approved: {} then, {} now", file.path,
                         named(then->digest), named(file.digest));
  }
  return std::nullopt;
}

class ShellRules {
 public:
  ShellRules(const ShellText& asked, const shell::Analysis& analysis, const Rules& rules)
      : asked_(asked), analysis_(analysis) {
    for (const Rule& rule : rules.all)
      if (tools::rule_form_of(rule.tool) == tools::RuleForm::command && counts(rule))
        rules_.push_back(&rule);
    covers_.resize(analysis.parts.size());
  }

  ShellWord ask(std::vector<Verdict>& chain) {
    if (analysis_.over_limit)
      chain.push_back({DecisionSource::classifier, Decision::deny, std::nullopt,
                       fmt::format("The command cannot be analysed: {}.", *analysis_.over_limit)});
    for (const Rule* rule : rules_)
      if (rule->source.effect != RuleEffect::allow) against(*rule, chain);
    out_.gap = allow(chain);
    out_.changed = out_.gap && grant_gap_;
    if (out_.changed) out_.gap = grant_gap_;
    return out_;
  }

 private:
  // Whether the rule applies to this call. An allow rule without `outside` applies only to calls in
  // the sandbox, a deny or ask rule with `outside` only to calls that leave it.
  bool counts(const Rule& rule) const {
    return rule.source.effect == RuleEffect::allow ? rule.outside || !asked_.leaves
                                                   : asked_.leaves || !rule.outside;
  }

  // Applies a deny or ask rule: it matches a command, or possibly matches one.
  void against(const Rule& rule, std::vector<Verdict>& chain) {
    const Decision effect = rule.source.effect == RuleEffect::deny ? Decision::deny : Decision::ask;
    limits_ = true;
    if (rule.kind == Rule::Kind::tool ||
        (rule.kind == Rule::Kind::text &&
         (rule.pattern == asked_.text || rule.pattern == asked_.given))) {
      chain.push_back(rule_verdict(rule, effect, "The rule matches the whole command."));
      return;
    }
    if (!is_of_words(rule)) return;
    const Part* possible = nullptr;
    for (const Part& part : analysis_.parts) {
      const Match match = finds(rule, part);
      if (match == Match::yes) {
        chain.push_back(
            rule_verdict(rule, effect, fmt::format("The command would run {}.", part.text())));
        return;
      }
      if (match == Match::possible && !possible) possible = &part;
    }
    if (possible)
      chain.push_back(rule_verdict(
          rule, Decision::ask,
          fmt::format("The rule may match {}: not all of its words are known in advance.",
                      possible->text())));
  }

  // Applies the allow rules: for the whole text, for each command, or for every command. Returns
  // what they do not cover.
  std::optional<std::string> allow(std::vector<Verdict>& chain) {
    const Rule* any = nullptr;
    for (const Rule* rule : rules_) {
      if (rule->source.effect != RuleEffect::allow) continue;
      if (rule->source.cwd) {
        if (!holds(*rule)) continue;
        chain.push_back(rule_verdict(
            *rule, Decision::allow,
            "A person approved this exact command in this folder, and its files are unchanged."));
        return std::nullopt;
      }
      if (rule->kind == Rule::Kind::text && rule->pattern == asked_.text) {
        chain.push_back(
            rule_verdict(*rule, Decision::allow, "The rule allows this exact command."));
        return std::nullopt;
      }
      if (rule->kind == Rule::Kind::tool && !any) any = rule;
    }
    const std::optional<std::string> gap = uncovered();
    if (!gap) {
      for (const Rule* rule : used_)
        chain.push_back(
            rule_verdict(*rule, Decision::allow, "Rules allow every part of the command."));
      return std::nullopt;
    }
    const std::optional<std::string> unresolved = limits_ ? unresolvable() : std::nullopt;
    if (unresolved)
      chain.push_back({DecisionSource::rule, Decision::ask, std::nullopt,
                       fmt::format("A rule denies or asks about some commands, and this command "
                                   "may run one of them: {}.",
                                   *unresolved)});
    else if (any)
      chain.push_back(rule_verdict(*any, Decision::allow, "The rule allows every command."));
    return gap;
  }

  // Whether a grant covers the call.
  bool holds(const Rule& grant) {
    if (grant.kind != Rule::Kind::text || grant.pattern != asked_.given) return false;
    if (!asked_.now) {
      out_.pending = true;
      return false;
    }
    const std::optional<std::string> gap = grant_gap(grant.source, *asked_.now);
    // With several grants, prefer the reason of the one for this folder.
    if (gap && (!grant_gap_ || *grant.source.cwd == asked_.now->cwd)) grant_gap_ = gap;
    out_.granted = !gap;
    return !gap;
  }

  // What the words rules do not cover; nullopt: they cover everything.
  std::optional<std::string> uncovered() {
    std::optional<std::string> gap;
    if (analysis_.parts.empty()) gap = "it contains no command";
    for (std::size_t i = 0; i < analysis_.parts.size(); ++i) {
      const std::optional<std::string> missing = missing_for(i);
      if (missing && !gap) gap = missing;
    }
    if (!analysis_.hazards.empty()) return analysis_.hazards.front().reason;
    if (!analysis_.proven())
      return analysis_.doubts.empty() ? *analysis_.over_limit : analysis_.doubts.front();
    return gap;
  }

  // Looks for an allow rule that covers the part and all its hazards, directly or through an outer
  // part. Returns what is missing.
  std::optional<std::string> missing_for(std::size_t index) {
    const Part& part = analysis_.parts[index];
    std::optional<std::string> missing = fmt::format("no rule allows {}", part.text());
    for (const Rule* rule : rules_) {
      if (rule->source.effect != RuleEffect::allow) continue;
      std::optional<std::size_t> words = covered_words(*rule, part);
      if (!words) words = covered_through(*rule, index);
      if (!words) continue;
      const Hazard* left = uncovered_hazard(part, *words);
      if (!left) {
        covers_[index] = true;
        if (std::ranges::find(used_, rule) == used_.end()) used_.push_back(rule);
        return std::nullopt;
      }
      missing = left->reason;
    }
    return missing;
  }

  // The number of words of a part that are covered by a rule for the outer part, such as `timeout 5
  // ls:*`.
  std::optional<std::size_t> covered_through(const Rule& rule, std::size_t index) const {
    const auto& within = analysis_.parts[index].within;
    if (!within || within->word == shell::kNoWord) return std::nullopt;
    std::optional<std::size_t> words = covered_words(rule, analysis_.parts[within->part]);
    if (!words) words = covered_through(rule, within->part);
    if (!words || *words <= within->word) return std::nullopt;
    return within->kind == shell::Within::Kind::text ? shell::kNoWord - 1 : *words - within->word;
  }

  static const Hazard* uncovered_hazard(const Part& part, std::size_t words) {
    const auto left = std::ranges::find_if(part.hazards, [&](const Hazard& hazard) {
      return hazard.word == shell::kNoWord || hazard.word >= words;
    });
    return left == part.hazards.end() ? nullptr : &*left;
  }

  // Why the text might run a command that it does not name; nullopt: it cannot.
  std::optional<std::string> unresolvable() const {
    if (!analysis_.doubts.empty()) return analysis_.doubts.front();
    for (const Hazard& hazard : analysis_.hazards)
      if (hazard.kind == Hazard::Kind::runs) return hazard.reason;
    for (std::size_t i = 0; i < analysis_.parts.size(); ++i) {
      if (covers_[i]) continue;
      const Part& part = analysis_.parts[i];
      if (part.program().text.contains('/') && !in_system_folder(part.program().text))
        return fmt::format("{} may be any program", part.program().text);
      for (const Hazard& hazard : part.hazards)
        if (hazard.kind == Hazard::Kind::runs) return hazard.reason;
    }
    return std::nullopt;
  }

  static bool in_system_folder(std::string_view path) {
    for (const std::string_view folder :
         {"/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/"})
      if (path.starts_with(folder) && !path.substr(folder.size()).contains('/')) return true;
    return false;
  }

  const ShellText& asked_;
  const shell::Analysis& analysis_;
  std::vector<const Rule*> rules_;
  std::vector<const Rule*> used_;
  std::vector<bool> covers_;
  bool limits_ = false;  // some rule denies or asks about commands
  ShellWord out_;
  std::optional<std::string> grant_gap_;  // why a grant of this text does not apply
};

}  // namespace

Verdict rule_verdict(const Rule& rule, Decision decision, std::string reason) {
  const bool host = rule.source.origin == schema::RuleOrigin::managed;
  return {host ? DecisionSource::host_policy : DecisionSource::rule, decision, rule.source.rule,
          std::move(reason)};
}

ShellWord ask_shell_rules(const ShellText& asked, const shell::Analysis& analysis,
                          const Rules& rules, std::vector<Verdict>& chain) {
  return ShellRules(asked, analysis, rules).ask(chain);
}

}  // namespace agentrt::policy
