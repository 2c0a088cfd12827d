// policy/permission.h: decides whether a tool call may run, and records who decided and why.
//
// judge() collects a verdict from every source: the mode, each matching rule, hooks, the host, and
// for shell texts the built-in classifier. The strongest verdict wins, whatever its source: deny,
// then ask, then allow. Exception: an ask by the mode only means that no rule applies, so any allow
// overrides it. A command may leave the sandbox only by the mode bypass, by a rule that says so, or
// by a person's approval; never by a hook. The result keeps all verdicts, so that the decision can
// be explained. Two further decisions exist: `unavailable` replaces ask if no person can be asked,
// and the call then fails; `sandboxed` is an allow by the mode, for a command that stays in the
// sandbox.
//
// For a shell text, every command in it must be allowed (policy/shell/analysis.h). A text that
// cannot be fully analysed needs approval. A text beyond policy/shell/limits.h is denied.
//
// A grant is a rule that stores a user's "session" or "always" for a shell text. It is bound to the
// folder and to the content of the executed files; Evidence::now holds their current state.
//
// PURE: no clock, no files. Paths are compared as text; the code that opens the file resolves the
// path and passes the result as real_path. Safe on any thread.
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
  // For shell the command, for file tools the path, for web_fetch the canonical URL, otherwise the
  // canonical arguments.
  std::string text;
  std::string cwd;  // absolute; relative paths start here
  // For shell: the folder argument of the call, as written. The text is then judged with a `cd` to
  // it in front.
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

// Files that are compared per command. If a command executes more, `executes_unknown` says so.
inline constexpr std::size_t kExecutedFilesMax = 16;

struct Judgement {
  schema::Decision decision = schema::Decision::ask;
  schema::DecisionSource source = schema::DecisionSource::mode;
  std::string reason;                  // one sentence
  std::vector<std::string> rule_refs;  // the rules that decided, as written
  std::vector<schema::Verdict> chain;  // the verdicts of all sources, in order
  std::optional<shell::Destructive> destructive;
  std::vector<std::string> subcommands;         // of a shell text, as a person would type them
  std::vector<std::string> executes;            // workspace files that it executes; absolute
  std::optional<std::string> executes_unknown;  // why there may be more files in `executes`
  bool granted = false;  // allowed by a grant; only the compared content may run
  bool pending = false;  // ask, but a grant may allow it once `Evidence::now` is known
};

// Of a subagent: the stricter decision of its own policy and of those above it.
Judgement judge(const Asked& asked, const Effective& policy, const Evidence& evidence = {});

// The decision that a call of the tool gets unless a rule names its text, path or arguments. The
// tool catalogue lists each tool with this decision. `workspace` is absolute.
schema::Decision general_decision(std::string_view tool, Access access,
                                  const std::string& workspace, const Effective& policy);

// The workspace files that a shell text runs, absolute, at most kExecutedFilesMax: the `executes`
// of its judgement, without judging it.
std::vector<std::string> executed_files(const Asked& asked, const std::string& home);

// The files that a shell text, run in `cwd`, would overwrite, absolute, if nothing else in it is
// destructive; empty otherwise. At most kExecutedFilesMax: a text with more counts as destructive.
std::vector<std::string> overwritten_files(std::string_view text, const std::string& cwd);

// The rule that an answer "session" or "always" stores: it fits this call and no other. For file
// tools the path is the absolute one.
std::string exact_rule(const Asked& asked, const std::string& home);

// Absolute paths that deny rules protect from reading; every sandbox hides them. A pattern
// contributes the folder that it covers completely (secrets/**). Other patterns contribute nothing.
std::vector<std::string> denied_paths(const Rules& rules, const Folders& folders);
// The same for all rules of the policy and of those above it.
std::vector<std::string> denied_paths(const Effective& policy, const std::string& workspace);

// Why a file tool may not use `real_path`: the resolved path of the call, or a file below that
// folder. The reason is a matching deny or ask rule. An ask rule that also matches `called` is no
// reason, because the user was already asked about it. A deny for reading also forbids writing,
// because the diff would show the old content. nullopt: allowed.
std::optional<std::string> path_refusal(const Rules& rules, const Folders& folders,
                                        std::string_view tool, std::string_view called,
                                        std::string_view real_path);
// The same by all rules of the policy and of those above it, and by the folders that it may write.
std::optional<std::string> path_refusal(const Effective& policy, const std::string& workspace,
                                        std::string_view tool, std::string_view called,
                                        std::string_view real_path);

}  // namespace agentrt::policy
