// schema/commands/actions.h: commands about decisions: answering actions, permission rules,
// workspace trust.
#pragma once

#include "schema/command.h"
#include "schema/facts/permission.h"
#include "schema/snapshots.h"

namespace agentrt::schema {

// How long an answer applies. `always`: in every session of the workspace. `channel`: to turns that
// are submitted over the channel that the answer came over, until it closes.
BOOST_DEFINE_ENUM_CLASS(AnswerScope, once, session, always, channel)

// The reply to respond_action and resolve_permission.
struct ActionReply {
  ActionId action_id;
  SessionId session_id;
  std::string decision;
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(ActionReply, (), (action_id, session_id, decision, sequence))

struct RespondAction {
  static constexpr CommandTraits kTraits{"respond_action", TokenScope::approve,
                                         CommandEffect::mutates};
  using Reply = ActionReply;
  ActionId action_id;
  std::string decision;               // one of those that the action offered
  std::optional<std::string> digest;  // of the request being answered; if given, it must match
  std::optional<Json> payload;        // a structured answer
  std::optional<AnswerScope> scope;
  std::optional<std::string> rule;  // one that the action offered; default: the exact call
  std::optional<std::string> reason;
  std::optional<std::string> idempotency_key;

  bool operator==(const RespondAction&) const = default;
};
BOOST_DESCRIBE_STRUCT(RespondAction, (),
                      (action_id, decision, digest, payload, scope, rule, reason, idempotency_key))

// Like RespondAction, but only for permission requests.
struct ResolvePermission {
  static constexpr CommandTraits kTraits{"resolve_permission", TokenScope::approve,
                                         CommandEffect::mutates};
  using Reply = ActionReply;
  ActionId action_id;
  std::string decision;  // allow, deny
  std::optional<std::string> digest;
  std::optional<AnswerScope> scope;
  std::optional<std::string> reason;
  std::optional<std::string> idempotency_key;

  bool operator==(const ResolvePermission&) const = default;
};
BOOST_DESCRIBE_STRUCT(ResolvePermission, (),
                      (action_id, decision, digest, scope, reason, idempotency_key))

// Lists the actions of one session or of all sessions, newest sessions first.
struct ListActions {
  static constexpr CommandTraits kTraits{"list_actions", TokenScope::read, CommandEffect::reads};
  std::optional<SessionId> session_id;
  std::optional<bool> include_resolved;
  std::optional<std::uint64_t> limit;
  std::optional<std::string> cursor;

  bool operator==(const ListActions&) const = default;
};
BOOST_DESCRIBE_STRUCT(ListActions, (), (session_id, include_resolved, limit, cursor))

struct EvaluatePermissionReply {
  Decision decision = Decision::ask;
  DecisionSource decision_source = DecisionSource::mode;
  std::string decision_reason;
  std::vector<std::string> rule_refs;
  std::vector<Verdict> chain;
  bool destructive = false;
  std::optional<std::string> impact;
  std::optional<std::string> rollback;
  std::vector<std::string> subcommands;
  std::optional<std::string> executes_unknown;
  // the canonical form that bash would get instead of an allowed command
  std::optional<std::string> executed;
  PermissionMode mode = PermissionMode::default_;
  SandboxMode sandbox = SandboxMode::workspace_write;
  std::string cwd;
  std::vector<std::string> ignored;  // requests of untrusted workspace files, which have no effect
};
BOOST_DESCRIBE_STRUCT(EvaluatePermissionReply, (),
                      (decision, decision_source, decision_reason, rule_refs, chain, destructive,
                       impact, rollback, subcommands, executes_unknown, executed, mode, sandbox,
                       cwd, ignored))

// Reports the decision that a call would get, without running it. Appends no facts.
struct EvaluatePermission {
  static constexpr CommandTraits kTraits{"evaluate_permission", TokenScope::read,
                                         CommandEffect::reads};
  using Reply = EvaluatePermissionReply;
  std::optional<SessionId> session_id;  // applies the grants of this session
  // the workspace; default: the session's, or else the daemon's
  std::optional<std::string> cwd;
  std::string tool_name;
  Json input;
  std::optional<PermissionMode> mode;
  std::optional<SandboxMode> sandbox;
  std::optional<bool> interactive;

  bool operator==(const EvaluatePermission&) const = default;
};
BOOST_DESCRIBE_STRUCT(EvaluatePermission, (),
                      (session_id, cwd, tool_name, input, mode, sandbox, interactive))

struct PolicyReply {
  SessionId session_id;
  std::vector<PolicyRule> rules;  // of the session itself, after the change
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(PolicyReply, (), (session_id, rules, sequence))

// Adds rules to a session, or removes rules that were added to it. `mode` applies to turns that
// name none.
struct SetPolicy {
  static constexpr CommandTraits kTraits{"set_policy", TokenScope::approve, CommandEffect::mutates};
  using Reply = PolicyReply;
  SessionId session_id;
  std::optional<std::vector<std::string>> allow;
  std::optional<std::vector<std::string>> ask;
  std::optional<std::vector<std::string>> deny;
  std::optional<std::vector<std::string>> remove;  // rules exactly as they were written
  std::optional<PermissionMode> mode;
  std::optional<std::string> reason;
  std::optional<std::string> idempotency_key;

  bool operator==(const SetPolicy&) const = default;
};
BOOST_DESCRIBE_STRUCT(SetPolicy, (),
                      (session_id, allow, ask, deny, remove, mode, reason, idempotency_key))

struct RulesReply {
  std::string workspace;
  std::optional<SessionId> session_id;
  PermissionMode mode = PermissionMode::default_;
  // Who set the mode: a file, the session, or a person for this folder (always). Absent: nobody.
  std::optional<RuleOrigin> mode_origin;
  SandboxMode sandbox = SandboxMode::workspace_write;
  std::vector<PolicyRule> rules;  // every one in force, in the order in which they are consulted
};
BOOST_DESCRIBE_STRUCT(RulesReply, (), (workspace, session_id, mode, mode_origin, sandbox, rules))

// Lists the rules in force in a workspace, or in a session with what was granted to it.
struct GetRules {
  static constexpr CommandTraits kTraits{"get_rules", TokenScope::read, CommandEffect::reads};
  using Reply = RulesReply;
  std::optional<SessionId> session_id;
  // the workspace; default: the session's, or else the daemon's
  std::optional<std::string> cwd;

  bool operator==(const GetRules&) const = default;
};
BOOST_DESCRIBE_STRUCT(GetRules, (), (session_id, cwd))

struct FolderPolicyReply {
  std::string workspace;
  std::vector<std::string> removed;
  std::optional<PermissionMode> mode;
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(FolderPolicyReply, (), (workspace, removed, mode, sequence))

// Changes what people decided for every session of a workspace: takes back rules that were granted
// for always, or sets the mode of turns that name none, where no file sets it.
struct SetFolderPolicy {
  static constexpr CommandTraits kTraits{"set_folder_policy", TokenScope::approve,
                                         CommandEffect::mutates};
  using Reply = FolderPolicyReply;
  std::string cwd;
  std::optional<std::vector<std::string>> remove;  // rules exactly as get_rules lists them
  std::optional<PermissionMode> mode;
  std::optional<std::string> reason;
  std::optional<std::string> idempotency_key;

  bool operator==(const SetFolderPolicy&) const = default;
};
BOOST_DESCRIBE_STRUCT(SetFolderPolicy, (), (cwd, remove, mode, reason, idempotency_key))

struct TrustReply {
  std::string workspace;
  std::vector<PolicyFile> files;
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(TrustReply, (), (workspace, files, sequence))

// Lists the files of a workspace that need trust, and whether they have it.
struct GetTrust {
  static constexpr CommandTraits kTraits{"get_trust", TokenScope::read, CommandEffect::reads};
  using Reply = TrustReply;
  std::string cwd;

  bool operator==(const GetTrust&) const = default;
};
BOOST_DESCRIBE_STRUCT(GetTrust, (), (cwd))

struct FileToTrust {
  std::string path;
  std::string digest;  // as returned by get_trust
  bool trusted = true;
  // what the person was shown; compared with the next version of the file
  std::optional<std::vector<std::string>> effects = {};

  bool operator==(const FileToTrust&) const = default;
};
BOOST_DESCRIBE_STRUCT(FileToTrust, (), (path, digest, trusted, effects))

// Trusts files of a workspace as long as their digests stay unchanged.
struct TrustWorkspace {
  static constexpr CommandTraits kTraits{"trust_workspace", TokenScope::approve,
                                         CommandEffect::mutates};
  using Reply = TrustReply;
  std::string cwd;
  std::vector<FileToTrust> files;
  std::optional<std::string> reason;
  std::optional<std::string> idempotency_key;

  bool operator==(const TrustWorkspace&) const = default;
};
BOOST_DESCRIBE_STRUCT(TrustWorkspace, (), (cwd, files, reason, idempotency_key))

}  // namespace agentrt::schema
