#include "cli/views/rules_view.h"

#include <fmt/format.h>

#include "cli/views/layout.h"

namespace agentrt::cli {
namespace {

using schema::PolicyRule;
using schema::RuleOrigin;

std::string_view source_of(RuleOrigin origin) {
  switch (origin) {
    case RuleOrigin::managed:
      return "managed configuration";
    case RuleOrigin::user:
      return "user configuration";
    case RuleOrigin::workspace:
      return "workspace file";
    case RuleOrigin::flag:
      return "command line";
    case RuleOrigin::session:
      return "this session";
    case RuleOrigin::always:
      return "granted for this folder";
    case RuleOrigin::channel:
      return "one channel";
  }
  return "unknown";
}

std::string details_of(const PolicyRule& rule, Timestamp now) {
  std::string out(source_of(rule.origin));
  if (rule.granted_at) out += ", " + spoken_age(*rule.granted_at, now);
  if (rule.cwd && !rule.cwd->empty()) out += ", in " + *rule.cwd;
  if (rule.channel_id) out += ", " + rule.channel_id->text();
  if (rule.cwd && rule.cwd->empty()) out += ", without a folder: asked about again";
  if (rule.executes && !rule.executes->empty())
    out += fmt::format(", while {} file{} unchanged", rule.executes->size(),
                       rule.executes->size() == 1 ? " is" : "s are");
  return out;
}

Paint paint_of(schema::RuleEffect effect) {
  if (effect == schema::RuleEffect::allow) return Paint::green;
  return effect == schema::RuleEffect::ask ? Paint::yellow : Paint::red;
}

}  // namespace

std::string rules_text(const schema::RulesReply& rules, Timestamp now, Paper paper) {
  std::string out;
  add_row(out, "folder", rules.workspace, Paint::plain, paper);
  add_row(out, "mode",
          fmt::format("{} ({})", schema::name_of(rules.mode),
                      rules.mode_origin == RuleOrigin::always
                          ? "chosen for this folder"
                          : (rules.mode_origin ? source_of(*rules.mode_origin) : "the default")),
          Paint::plain, paper);
  add_row(out, "sandbox", schema::name_of(rules.sandbox), Paint::plain, paper);
  if (rules.rules.empty()) return out + "\n  No rules.\n";
  for (const PolicyRule& rule : rules.rules) {
    out += "\n";
    add_paragraph(out, fmt::format("{} {}", schema::name_of(rule.effect), rule.rule),
                  paint_of(rule.effect), paper);
    add_block(out, details_of(rule, now), Paint::dim, paper);
  }
  return out;
}

}  // namespace agentrt::cli
