// schema/policy.h: the policy that a session is under: rules, hooks, modes, and the files that they
// come from.
//
// A session's policy is put together for each of its turns from the configuration, the files of its
// workspace and what people granted; what differs from before becomes policy.changed. So the log
// says under which policy each decision was taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schema/codec.h"
#include "schema/statuses.h"

namespace agentrt::schema {

BOOST_DEFINE_ENUM_CLASS(RuleEffect, allow, ask, deny)

// Who wrote a rule. managed: the host policy; flag: the command line; session: set_policy, or an
// answer for this session; always: an answer for every session of the workspace.
BOOST_DEFINE_ENUM_CLASS(RuleOrigin, managed, user, workspace, flag, session, always)

// A workspace file that a command executes, as it was when a person was asked.
struct ExecutedFile {
  std::string path;
  std::optional<std::string> digest;  // sha256:…; absent: it cannot be read

  bool operator==(const ExecutedFile&) const = default;
};
BOOST_DESCRIBE_STRUCT(ExecutedFile, (), (path, digest))

struct PolicyRule {
  RuleEffect effect = RuleEffect::ask;
  std::string rule;  // as it was written: tool, tool(exact), tool(words:*)
  RuleOrigin origin = RuleOrigin::user;
  // Of a grant: a rule that a person's answer about a command left behind. It holds in this folder
  // and for these contents alone. An empty folder: it was given before grants stored one.
  std::optional<std::string> cwd = {};
  std::optional<std::vector<ExecutedFile>> executes = {};

  bool operator==(const PolicyRule&) const = default;
};
BOOST_DESCRIBE_STRUCT(PolicyRule, (), (effect, rule, origin, cwd, executes))

// Takes a grant from before grants stored a folder for one whose folder is not known: it is asked
// about again.
inline void bind_old_grant(PolicyRule& rule) {
  const bool of_command = rule.rule.starts_with("shell(\"");
  if (rule.effect == RuleEffect::allow && of_command && !rule.cwd) rule.cwd = "";
}

// What a rule counts for in kPolicyBytesMax.
inline std::size_t rule_bytes(const PolicyRule& rule) {
  std::size_t bytes = rule.rule.size() + (rule.cwd ? rule.cwd->size() : 0);
  if (rule.executes)
    for (const ExecutedFile& file : *rule.executes)
      bytes += file.path.size() + (file.digest ? file.digest->size() : 0);
  return bytes;
}

BOOST_DEFINE_ENUM_CLASS(HookPoint, session_start, user_prompt_submit, pre_tool_use,
                        permission_request, post_tool_use, post_tool_failure, post_sampling, stop)

BOOST_DEFINE_ENUM_CLASS(OnFailure, closed, open)

// How a hook is spoken to: our own words, or those of the files people have for Claude Code.
BOOST_DEFINE_ENUM_CLASS(HookDialect, agentrt, claude)

struct HookSpec {
  HookPoint point = HookPoint::pre_tool_use;
  std::string matcher;  // of tool names; empty: every one
  std::string command;  // run with /bin/bash -c in the workspace
  std::uint64_t timeout_ms = 5'000;
  OnFailure on_failure = OnFailure::closed;
  RuleOrigin origin = RuleOrigin::user;
  HookDialect dialect = HookDialect::agentrt;

  bool operator==(const HookSpec&) const = default;
};
BOOST_DESCRIBE_STRUCT(HookSpec, (),
                      (point, matcher, command, timeout_ms, on_failure, origin, dialect))

// A file of the workspace that would loosen policy or run something.
struct PolicyFile {
  std::string path;    // absolute
  std::string digest;  // sha256:…
  bool trusted = false;
  bool changed = false;  // it was trusted with other contents

  bool operator==(const PolicyFile&) const = default;
};
BOOST_DESCRIBE_STRUCT(PolicyFile, (), (path, digest, trusted, changed))

struct Policy {
  PermissionMode mode = PermissionMode::default_;  // where a turn names none
  SandboxMode sandbox = SandboxMode::workspace_write;
  bool network = false;
  std::vector<PolicyRule> rules;
  std::vector<HookSpec> hooks;
  std::vector<PolicyFile> files;     // of the workspace, in the order they were read
  std::vector<std::string> ignored;  // what untrusted files ask for, in words

  bool operator==(const Policy&) const = default;
};
BOOST_DESCRIBE_STRUCT(Policy, (), (mode, sandbox, network, rules, hooks, files, ignored))

// A policy stands in facts and in the view; what exceeds these is refused when it is read.
inline constexpr std::size_t kPolicyRulesMax = 1'000;
inline constexpr std::size_t kPolicyBytesMax = 48 * 1024;  // of all rules and hooks
inline constexpr std::size_t kHooksMax = 32;
inline constexpr std::uint64_t kHookTimeoutMaxMs = 60'000;
inline constexpr std::size_t kHookOutputBytesMax = 64 * 1024;

}  // namespace agentrt::schema
