// schema/policy.h: the policy of a session: rules, hooks, modes, and the files that they come from.
//
// It is composed for each turn from the configuration, the files of the workspace and the user's
// grants. A change is recorded as policy.changed, so the log shows under which policy each decision
// was made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "schema/codec.h"
#include "schema/statuses.h"

namespace agentrt::schema {

BOOST_DEFINE_ENUM_CLASS(RuleEffect, allow, ask, deny)

// Who wrote a rule. managed: the host policy; flag: the command line; session: set_policy, or an
// answer for this session; always: an answer for every session of the workspace; channel: an answer
// for the turns of one channel.
BOOST_DEFINE_ENUM_CLASS(RuleOrigin, managed, user, workspace, flag, session, always, channel)

// A workspace file that a command executes, as of the time of the approval.
struct ExecutedFile {
  std::string path;
  std::optional<std::string> digest;  // sha256:…; absent: not readable

  bool operator==(const ExecutedFile&) const = default;
};
BOOST_DESCRIBE_STRUCT(ExecutedFile, (), (path, digest))

struct PolicyRule {
  RuleEffect effect = RuleEffect::ask;
  std::string rule;  // as written: tool, tool(exact), tool(words:*)
  RuleOrigin origin = RuleOrigin::user;
  // Set for a grant, a rule stored from a user's answer about a command: it applies only in this
  // folder and to these file contents. An empty folder: stored by a version that did not record
  // one.
  std::optional<std::string> cwd = {};
  std::optional<std::vector<ExecutedFile>> executes = {};
  std::optional<Timestamp> granted_at = {};  // absent: from a file, or of an older version
  // It applies only to turns that were submitted over this channel.
  std::optional<ChannelId> channel_id = {};

  // The time of a grant does not make it another rule.
  bool operator==(const PolicyRule& other) const {
    return effect == other.effect && rule == other.rule && origin == other.origin &&
           cwd == other.cwd && executes == other.executes && channel_id == other.channel_id;
  }
};
BOOST_DESCRIBE_STRUCT(PolicyRule, (), (effect, rule, origin, cwd, executes, granted_at, channel_id))

// Marks a grant of an older version, which has no folder, as one with an unknown folder. The user
// is then asked again.
inline void bind_old_grant(PolicyRule& rule) {
  const bool of_command = rule.rule.starts_with("shell(\"");
  if (rule.effect == RuleEffect::allow && of_command && !rule.cwd) rule.cwd = "";
}

// The size of a rule for kPolicyBytesMax.
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

// The protocol of a hook: our own, or that of hook files written for Claude Code.
BOOST_DEFINE_ENUM_CLASS(HookDialect, agentrt, claude)

struct HookSpec {
  HookPoint point = HookPoint::pre_tool_use;
  std::string matcher;  // pattern of tool names; empty: all
  std::string command;  // run with /bin/bash -c in the workspace
  std::uint64_t timeout_ms = 5'000;
  OnFailure on_failure = OnFailure::closed;
  RuleOrigin origin = RuleOrigin::user;
  HookDialect dialect = HookDialect::agentrt;

  bool operator==(const HookSpec&) const = default;
};
BOOST_DESCRIBE_STRUCT(HookSpec, (),
                      (point, matcher, command, timeout_ms, on_failure, origin, dialect))

// A workspace file that would loosen the policy or run something.
struct PolicyFile {
  std::string path;    // absolute
  std::string digest;  // sha256:…
  bool trusted = false;
  bool changed = false;  // it was trusted with other content
  // What it does once it is trusted, one line each, at most kEffectsMax; and what the version did
  // that was trusted last, where this one differs from it.
  std::optional<std::vector<std::string>> effects = {};
  std::optional<std::vector<std::string>> trusted_effects = {};

  bool operator==(const PolicyFile&) const = default;
};
BOOST_DESCRIBE_STRUCT(PolicyFile, (), (path, digest, trusted, changed, effects, trusted_effects))

struct Policy {
  PermissionMode mode = PermissionMode::default_;  // for turns that name none
  // Who set the mode: a file, or a person for this folder (always). Absent: nobody did.
  std::optional<RuleOrigin> mode_origin = {};
  SandboxMode sandbox = SandboxMode::workspace_write;
  bool network = false;
  std::vector<PolicyRule> rules;
  std::vector<HookSpec> hooks;
  std::vector<PolicyFile> files;     // of the workspace, in reading order
  std::vector<std::string> ignored;  // requests of untrusted files, as sentences

  bool operator==(const Policy&) const = default;
};
BOOST_DESCRIBE_STRUCT(Policy, (),
                      (mode, mode_origin, sandbox, network, rules, hooks, files, ignored))

// A policy is stored in facts and views, so a larger one is refused.
inline constexpr std::size_t kPolicyRulesMax = 1'000;
inline constexpr std::size_t kPolicyBytesMax = 48 * 1024;  // all rules and hooks together
inline constexpr std::size_t kHooksMax = 32;
inline constexpr std::size_t kEffectsMax = 40;       // lines of one file
inline constexpr std::size_t kEffectBytesMax = 240;  // of one line
inline constexpr std::uint64_t kHookTimeoutMaxMs = 60'000;
inline constexpr std::size_t kHookOutputBytesMax = 64 * 1024;

}  // namespace agentrt::schema
