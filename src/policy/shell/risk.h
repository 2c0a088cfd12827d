// policy/shell/risk.h: a built-in judge of what a shell text puts at risk.
//
// For the mode `auto`, where no rule speaks. It is conservative: it lets pass what it knows to read
// only, and, where a sandbox confines the command, the ordinary work of building and testing. Where
// nothing confines it, every word must be known before it runs: the text has a canonical form, and
// neither a shell, a script nor a configuration decides about the rest. It never refuses; what it
// does not know is for a person.
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

// What an action destroys, and what can be done about it.
struct Destructive {
  std::string impact;
  std::string undo;

  bool operator==(const Destructive&) const = default;
};

// What the destructive commands of the text take away, each kind once, whatever is decided.
std::optional<Destructive> find_destructive(const Analysis& analysis);

// The files that a text executes, by the words that name them, and why there may be more.
struct Executed {
  std::vector<std::string> files;
  std::optional<std::string> unknown;
};

Executed find_executed(const Analysis& analysis);

}  // namespace agentrt::policy::shell
