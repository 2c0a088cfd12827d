// policy/shell/risk.h: the built-in classifier for the risk of a shell text.
//
// Used in the mode `auto` when no rule applies. It is conservative: it rates as low risk
// only commands that are known to only read, and, in a sandbox, ordinary building and testing.
// Without a sandbox every word must also be known before it runs: the text must have a canonical
// form, and no shell, script or configuration may decide about the rest. The classifier never
// denies; all other texts need approval.
//
// PURE. Safe on any thread.
#pragma once

#include <optional>
#include <string>

#include "policy/shell/analysis.h"
#include "policy/steering.h"

namespace agentrt::policy::shell {

enum class Confined { no, yes };

struct Risk {
  bool low = false;
  std::string reason;  // one sentence
};

Risk judge_risk(const Analysis& analysis, Confined confined, const Ground& ground);

// What an action destroys, and how to undo it.
struct Destructive {
  std::string impact;
  std::string undo;

  bool operator==(const Destructive&) const = default;
};

// The combined effect of the destructive commands in the text, each kind once. Independent of the
// decision.
std::optional<Destructive> find_destructive(const Analysis& analysis);

// The files that the text overwrites by redirections, as they are written, if that is all that
// makes it destructive and each of them is known. Empty otherwise. If none of them exists, the text
// creates them and destroys nothing.
std::vector<std::string> find_overwritten(const Analysis& analysis);

// The files that a text executes, as named by its words, and why there may be more.
struct Executed {
  std::vector<std::string> files;
  std::optional<std::string> unknown;
};

Executed find_executed(const Analysis& analysis);

}  // namespace agentrt::policy::shell
