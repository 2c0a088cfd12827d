// policy/permission.h: whether a tool call may run, who said so and why.
//
// judge() asks every source: the mode, each rule that fits, what hooks and the host said, and for
// shell texts the built-in classifier. The force of a word does not depend on who says it: deny,
// then ask, then allow. The mode's own ask is the exception, since it stands for "no rule speaks":
// any allow lifts it. A command that leaves the sandbox is let out by the mode bypass, by a rule
// that says so or by a person, and by no hook. The whole chain is kept, so that the decision can be
// explained.
//
// For a shell text every command in it must be allowed (policy/shell/analysis.h). What cannot be
// read or proven is asked; what exceeds policy/shell/limits.h is denied.
//
// PURE: no clock, no files. Paths are judged by their letters; whoever opens the file checks where
// it leads and gives it in real_path. Safe on any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/effective.h"
#include "policy/rules.h"
#include "policy/shell/risk.h"
#include "schema/binding.h"
#include "schema/facts/permission.h"
#include "schema/policy.h"

namespace agentrt::policy {

enum class Access { read_only, changes };
enum class Escalation { none, outside_sandbox };

struct Asked {
  std::string tool;
  // shell: the command; file tools: the path; web_fetch: the address; else the canonical arguments.
  std::string text;
  std::string cwd;  // absolute; where a relative path starts
  // Of shell: the folder that the call names, as it is written. The text is then judged with a cd
  // to it in front.
  std::optional<std::string> folder;
  std::string workspace;                 // absolute
  std::vector<std::string> roots;        // further folders that commands may write in, absolute
  std::optional<std::string> real_path;  // of file tools: where the path leads, if looked up
  Access access = Access::changes;
  Escalation escalation = Escalation::none;
};

// What is known about one call besides its policy.
struct Evidence {
  std::vector<schema::Verdict> said;     // by hooks and the host, in their order
  const schema::Binding* now = nullptr;  // what grants are compared with; null: not looked up yet
};

// Of one command; what it executes beyond them is not compared, and said to be unknown.
inline constexpr std::size_t kExecutedFilesMax = 16;

struct Judgement {
  schema::Decision decision = schema::Decision::ask;
  schema::DecisionSource source = schema::DecisionSource::mode;
  std::string reason;                  // one sentence
  std::vector<std::string> rule_refs;  // of the rules that decided, as they were written
  std::vector<schema::Verdict> chain;  // every source, in the order it was asked
  std::optional<shell::Destructive> destructive;
  std::vector<std::string> subcommands;         // of a shell text, as a person would type them
  std::vector<std::string> executes;            // files of the workspace that it runs, absolute
  std::optional<std::string> executes_unknown;  // why there may be others
  bool granted = false;  // by a grant that holds: what runs must be what was looked at
  bool pending = false;  // it is asked only because nobody has looked whether a grant holds
};

Judgement judge(const Asked& asked, const Effective& policy, const Evidence& evidence = {});

// The decision that calls of the tool get where no rule names their very text, path or arguments:
// what a tool catalogue says about the tool. `workspace` is absolute.
schema::Decision general_decision(std::string_view tool, Access access,
                                  const std::string& workspace, const Effective& policy);

// The workspace files that a shell text runs, absolute, at most kExecutedFilesMax: the `executes`
// of its judgement, without judging it.
std::vector<std::string> executed_files(const Asked& asked, const std::string& home);

// The rule that an answer "session" or "always" stores: it fits this call and no other. For file
// tools the path is the absolute one.
std::string exact_rule(const Asked& asked, const std::string& home);

// Paths that deny rules keep from being read, absolute: to be masked in every sandbox. A pattern
// gives the folder that it covers whole (secrets/**); one that covers parts of a folder gives none.
std::vector<std::string> denied_paths(const Rules& rules, const Folders& folders);

// Why a file tool may not use what stands at `real_path`: where the path it was called with really
// leads, or a file below that folder. A rule that denies or asks fits it. One that asks and fits
// `called` too is no reason: a person was asked about that. A deny of reading holds for writing as
// well, since the diff shows what stood there.
std::optional<std::string> path_refusal(const Rules& rules, const Folders& folders,
                                        std::string_view tool, std::string_view called,
                                        std::string_view real_path);

}  // namespace agentrt::policy
