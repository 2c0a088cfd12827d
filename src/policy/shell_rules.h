// policy/shell_rules.h: applies the rules to a shell text, command by command. judge()
// (permission.h) adds the verdicts of the mode, of hooks and of the classifier.
//
// PURE. Safe on any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/rules.h"
#include "schema/binding.h"
#include "schema/facts/permission.h"

namespace agentrt::policy {

struct ShellText {
  std::string_view text;   // the judged text; with a cd in front if the call names another folder
  std::string_view given;  // the text of the call itself
  // It leaves the sandbox: only allow rules with `outside` count.
  bool leaves = false;
  // Current folder and files, to compare grants with; null: not read yet.
  const schema::Binding* now = nullptr;
};

// What the allow rules and grants cover of a shell text.
struct ShellWord {
  std::optional<std::string> gap;  // what the allow rules do not cover
  bool changed = false;            // the gap is that folder or files differ from the grant
  bool granted = false;            // a grant covers it; only the compared content may run
  bool pending = false;            // a grant may cover it, but `now` is missing
};

// Adds verdicts to `chain`: one for each deny or ask rule that matches a command, one if such a
// rule might match a part that cannot be resolved, and one if the allow rules cover everything. A
// text beyond the limits is denied.
ShellWord ask_shell_rules(const ShellText& asked, const shell::Analysis& analysis,
                          const Rules& rules, std::vector<schema::Verdict>& chain);

// The verdict of one rule. The source of a managed rule is the host.
schema::Verdict rule_verdict(const Rule& rule, schema::Decision decision, std::string reason);

}  // namespace agentrt::policy
