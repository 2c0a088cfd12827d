// policy/shell_rules.h: what the rules say about a shell text, command by command.
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
  std::string_view text;                 // what is judged: with a cd to the call's folder in front
  std::string_view given;                // the text of the call itself
  bool leaves = false;                   // the sandbox: only allow rules that say `outside` count
  const schema::Binding* now = nullptr;  // what grants are held against, once it was looked up
};

struct ShellWord {
  std::optional<std::string> gap;  // what the allow rules do not cover
  bool changed = false;            // it is that the world differs from what was granted
  bool granted = false;            // a grant covers it: the call is bound to what is so now
  bool pending = false;            // a grant may cover it, which `now` has to tell
};

// Adds a verdict for each rule that denies or asks about a command of the text, one for what such a
// rule might find in what cannot be resolved, and one when the allow rules cover everything. A text
// beyond the limits is denied.
ShellWord ask_shell_rules(const ShellText& asked, const shell::Analysis& analysis,
                          const Rules& rules, std::vector<schema::Verdict>& chain);

// The verdict of one rule; a managed rule is the host's word.
schema::Verdict rule_verdict(const Rule& rule, schema::Decision decision, std::string reason);

}  // namespace agentrt::policy
