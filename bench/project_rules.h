// bench/project_rules.h: the rules of an ordinary project, for measurements of permission
// decisions.
#pragma once

#include <string>
#include <vector>

#include "schema/policy.h"

namespace agentrt {

// Allows about forty programs, asks about pushing, and gives `destructive` for rm and curl.
inline std::vector<schema::PolicyRule> project_rules(schema::RuleEffect destructive) {
  std::vector<schema::PolicyRule> rules;
  const auto add = [&](schema::RuleEffect effect, const std::string& words) {
    rules.push_back({effect, "shell(" + words + ":*)", schema::RuleOrigin::user});
  };
  for (const char* words :
       {"git status", "git log", "git diff", "git show",   "git add",     "git commit", "ls",
        "cat",        "head",    "tail",     "grep",       "rg",          "find",       "wc",
        "sort",       "uniq",    "echo",     "cd",         "cut",         "tr",         "jq",
        "xargs",      "sed",     "awk",      "cargo test", "cargo build", "npm test",   "npm run",
        "go test",    "cmake",   "make",     "ctest",      "test",        "[",          "date",
        "stat",       "du",      "which",    "basename",   "dirname"})
    add(schema::RuleEffect::allow, words);
  add(schema::RuleEffect::ask, "git push");
  add(destructive, "rm");
  add(destructive, "curl");
  return rules;
}

}  // namespace agentrt
