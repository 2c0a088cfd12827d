// schema/facts/permission.h: permission decisions, the actions that wait for one, and sandboxes.
#pragma once

#include "schema/policy.h"
#include "schema/scope.h"
#include "schema/values.h"

namespace agentrt::schema {

BOOST_DEFINE_ENUM_CLASS(Decision, allow, deny, ask, unavailable, sandboxed)

BOOST_DEFINE_ENUM_CLASS(DecisionSource, mode, rule, hook, classifier, human, host_policy)

BOOST_DEFINE_ENUM_CLASS(ViolationKind, network, filesystem, process)

// The verdict of one source (mode, rule, hook, host, classifier).
struct Verdict {
  DecisionSource source = DecisionSource::mode;
  Decision verdict = Decision::ask;
  std::optional<std::string> rule;
  std::optional<std::string> reason;

  bool operator==(const Verdict&) const = default;
};
BOOST_DESCRIBE_STRUCT(Verdict, (), (source, verdict, rule, reason))

struct PermissionEvaluated {
  static constexpr std::string_view kType = "permission.evaluated";
  using Scope = ToolScope;
  Decision decision = Decision::ask;
  DecisionSource decision_source = DecisionSource::mode;
  std::optional<std::string> decision_reason;
  std::optional<std::vector<std::string>> rule_refs;
  std::optional<std::vector<Verdict>> chain;  // every source that was consulted
  std::optional<bool> destructive;
  std::optional<std::string> impact;    // of a destructive action: what it may destroy
  std::optional<std::string> rollback;  // of a destructive action: how to undo it
  std::optional<PermissionMode> mode;
  std::optional<std::vector<std::string>> subcommands;  // commands that the text would run
  std::optional<std::string> digest;                    // digest of what will run
  std::optional<ActionId> approval_action_id;           // the action that asks the user

  bool operator==(const PermissionEvaluated&) const = default;
};
BOOST_DESCRIBE_STRUCT(PermissionEvaluated, (),
                      (decision, decision_source, decision_reason, rule_refs, chain, destructive,
                       impact, rollback, mode, subcommands, digest, approval_action_id))

struct PermissionRequested {
  static constexpr std::string_view kType = "permission.requested";
  using Scope = ActionScope;
  std::optional<std::string> tool_name;
  std::optional<std::string> reason;
  std::optional<std::string> digest;
  std::optional<Timestamp> expires_at;

  bool operator==(const PermissionRequested&) const = default;
};
BOOST_DESCRIBE_STRUCT(PermissionRequested, (), (tool_name, reason, digest, expires_at))

struct PermissionResolved {
  static constexpr std::string_view kType = "permission.resolved";
  using Scope = ActionScope;
  Decision decision = Decision::deny;
  DecisionSource decision_source = DecisionSource::human;
  std::optional<std::string> scope;  // once, session, always
  std::optional<std::string> reason;
  std::optional<std::string> digest;

  bool operator==(const PermissionResolved&) const = default;
};
BOOST_DESCRIBE_STRUCT(PermissionResolved, (), (decision, decision_source, scope, reason, digest))

// The kinds of action.
inline constexpr std::string_view kPermissionAction = "permission";
inline constexpr std::string_view kInputAction = "input";
inline constexpr std::string_view kTrustAction = "trust";
// A question of an MCP server.
inline constexpr std::string_view kElicitationAction = "elicitation";

// The turn waits for a decision before it continues. `input` is exactly what will run or be
// written, never shortened.
struct ActionRequired {
  static constexpr std::string_view kType = "action.required";
  using Scope = ActionScope;
  std::string action_type;
  std::optional<std::string> prompt;
  std::optional<Json> schema;                         // JSON Schema of a structured answer
  std::optional<std::vector<std::string>> decisions;  // the possible answers
  std::optional<std::string> digest;                  // digest of what will run
  std::optional<Json> scope;                          // the scopes that an answer may have
  // Of a permission: the scopes that an answer may have, and the rules of which an answer for
  // longer than once stores one. The first rule is the exact call, the others are wider.
  std::optional<std::vector<std::string>> scopes;
  std::optional<std::vector<std::string>> rules;
  std::optional<Json> policy;
  std::optional<std::string> tool_name;
  std::optional<Json> input;
  std::optional<std::string> cwd;
  std::optional<std::string> reason;  // why the user is asked
  std::optional<SandboxMode> sandbox;
  std::optional<bool> outside_sandbox;  // yes lets the command leave the turn's sandbox
  std::optional<std::string> user;      // outside the sandbox: the user that the command runs as
  std::optional<bool> network;          // outside the sandbox: whether it has the network
  std::optional<std::vector<std::string>> subcommands;
  std::optional<bool> destructive;
  std::optional<std::string> impact;
  std::optional<std::string> rollback;
  std::optional<std::vector<ExecutedFile>> executes;  // covered by the digest
  std::optional<std::string> executes_unknown;        // why more files may be executed
  std::optional<std::vector<PolicyFile>> files;       // files to be trusted
  std::optional<std::string> server;                  // the MCP server that asks
  std::optional<std::string> url;                     // page to open, given by the server
  std::optional<Timestamp> expires_at;
  std::optional<std::int64_t> expires_in_ms;

  bool operator==(const ActionRequired&) const = default;
};
BOOST_DESCRIBE_STRUCT(ActionRequired, (),
                      (action_type, prompt, schema, decisions, digest, scope, scopes, rules, policy,
                       tool_name, input, cwd, reason, sandbox, outside_sandbox, user, network,
                       subcommands, destructive, impact, rollback, executes, executes_unknown,
                       files, server, url, expires_at, expires_in_ms))

struct ActionResolved {
  static constexpr std::string_view kType = "action.resolved";
  using Scope = ActionScope;
  std::string decision;  // an offered decision; or expired or cancelled, if there was no answer
  std::string decision_source;
  std::optional<std::string> scope;
  std::optional<std::string> rule = {};  // that the answer stored, for longer than once
  std::optional<std::string> reason;
  std::optional<Json> payload;
  std::optional<std::string> answered_by;        // the principal who answered
  std::optional<std::int64_t> duration_ms = {};  // since action.required

  bool operator==(const ActionResolved&) const = default;
};
BOOST_DESCRIBE_STRUCT(ActionResolved, (),
                      (decision, decision_source, scope, rule, reason, payload, answered_by,
                       duration_ms))

// The sandbox of a process as the kernel enforces it.
struct SandboxApplied {
  static constexpr std::string_view kType = "sandbox.applied";
  using Scope = ProcessScope;
  std::optional<SandboxMode> mode;
  std::optional<std::string> cwd;
  std::optional<std::vector<std::string>> read_roots;
  std::optional<std::vector<std::string>> write_roots;
  std::optional<Json> network;
  std::optional<std::string> environment_ref;
  std::optional<Json> process_limits;
  std::optional<Json> layers;

  bool operator==(const SandboxApplied&) const = default;
};
BOOST_DESCRIBE_STRUCT(SandboxApplied, (),
                      (mode, cwd, read_roots, write_roots, network, environment_ref, process_limits,
                       layers))

struct SandboxViolation {
  static constexpr std::string_view kType = "sandbox.violation";
  using Scope = ProcessScope;
  ViolationKind kind = ViolationKind::filesystem;
  std::string attempted;
  std::string layer;
  std::optional<bool> advisory;

  bool operator==(const SandboxViolation&) const = default;
};
BOOST_DESCRIBE_STRUCT(SandboxViolation, (), (kind, attempted, layer, advisory))

struct PolicyChanged {
  static constexpr std::string_view kType = "policy.changed";
  using Scope = SessionScope;
  // resolved: the policy of this turn differs from the last turn's; `policy` is complete. rules:
  // `added` and `removed` apply to this session, or to every session of `workspace`. trusted: the
  // `files` of `workspace` are trusted with their current content. mode: `mode` applies to every
  // session of `workspace`, if no file sets one.
  std::string change;
  std::optional<std::string> source;  // configuration, human
  std::optional<Policy> policy;
  std::optional<std::vector<PolicyRule>> added;
  std::optional<std::vector<PolicyRule>> removed;
  std::optional<PermissionMode> mode;
  std::optional<std::string> workspace;
  std::optional<std::vector<PolicyFile>> files;
  std::optional<std::string> reason;
  std::optional<std::string> changed_by;  // the principal who made the change

  bool operator==(const PolicyChanged&) const = default;
};
BOOST_DESCRIBE_STRUCT(PolicyChanged, (),
                      (change, source, policy, added, removed, mode, workspace, files, reason,
                       changed_by))

}  // namespace agentrt::schema
