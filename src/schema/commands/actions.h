// schema/commands/actions.h: commands about decisions: what may run, who answers, under which
// rules.
#pragma once

#include "schema/command.h"
#include "schema/facts/permission.h"
#include "schema/snapshots.h"

namespace agentrt::schema {

// How far an answer reaches. always: every session of the workspace.
BOOST_DEFINE_ENUM_CLASS(AnswerScope, once, session, always)

// The reply to both commands that answer an action.
struct ActionReply {
  ActionId action_id;
  SessionId session_id;
  std::string decision;
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(ActionReply, (), (action_id, session_id, decision, sequence))

struct RespondAction {
  static constexpr CommandTraits kTraits{"respond_action", TokenScope::approve, Effect::mutates};
  using Reply = ActionReply;
  ActionId action_id;
  std::string decision;               // one that the action offered
  std::optional<std::string> digest;  // the one the answer is about; if given, it must match
  std::optional<Json> payload;        // a structured answer
  std::optional<AnswerScope> scope;
  std::optional<std::string> reason;
  std::optional<std::string> idempotency_key;

  bool operator==(const RespondAction&) const = default;
};
BOOST_DESCRIBE_STRUCT(RespondAction, (),
                      (action_id, decision, digest, payload, scope, reason, idempotency_key))

// The same for permissions alone.
struct ResolvePermission {
  static constexpr CommandTraits kTraits{"resolve_permission", TokenScope::approve,
                                         Effect::mutates};
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

// Actions over all sessions, or of one; newest sessions first.
struct ListActions {
  static constexpr CommandTraits kTraits{"list_actions", TokenScope::read, Effect::reads};
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
  PermissionMode mode = PermissionMode::default_;
  SandboxMode sandbox = SandboxMode::workspace_write;
  std::string cwd;
  std::vector<std::string> ignored;  // what untrusted files of the workspace ask for
};
BOOST_DESCRIBE_STRUCT(EvaluatePermissionReply, (),
                      (decision, decision_source, decision_reason, rule_refs, chain, destructive,
                       impact, rollback, subcommands, executes_unknown, mode, sandbox, cwd,
                       ignored))

// The decision that a call would get, without making it. Appends nothing.
struct EvaluatePermission {
  static constexpr CommandTraits kTraits{"evaluate_permission", TokenScope::read, Effect::reads};
  using Reply = EvaluatePermissionReply;
  std::optional<SessionId> session_id;  // with what was granted to it
  std::optional<std::string> cwd;       // the workspace; the session's, else the daemon's
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

// Adds rules to a session, or takes away those it was given; mode is where its turns name none.
struct SetPolicy {
  static constexpr CommandTraits kTraits{"set_policy", TokenScope::approve, Effect::mutates};
  using Reply = PolicyReply;
  SessionId session_id;
  std::optional<std::vector<std::string>> allow;
  std::optional<std::vector<std::string>> ask;
  std::optional<std::vector<std::string>> deny;
  std::optional<std::vector<std::string>> remove;  // rules as they were written
  std::optional<PermissionMode> mode;
  std::optional<std::string> reason;
  std::optional<std::string> idempotency_key;

  bool operator==(const SetPolicy&) const = default;
};
BOOST_DESCRIBE_STRUCT(SetPolicy, (),
                      (session_id, allow, ask, deny, remove, mode, reason, idempotency_key))

struct TrustReply {
  std::string workspace;
  std::vector<PolicyFile> files;
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(TrustReply, (), (workspace, files, sequence))

// Which files of a workspace need trust, and which have it.
struct GetTrust {
  static constexpr CommandTraits kTraits{"get_trust", TokenScope::read, Effect::reads};
  using Reply = TrustReply;
  std::string cwd;

  bool operator==(const GetTrust&) const = default;
};
BOOST_DESCRIBE_STRUCT(GetTrust, (), (cwd))

struct FileToTrust {
  std::string path;
  std::string digest;  // as get_trust gave it
  bool trusted = true;

  bool operator==(const FileToTrust&) const = default;
};
BOOST_DESCRIBE_STRUCT(FileToTrust, (), (path, digest, trusted))

// Files of a workspace count from now on, as long as they are as they were seen.
struct TrustWorkspace {
  static constexpr CommandTraits kTraits{"trust_workspace", TokenScope::approve, Effect::mutates};
  using Reply = TrustReply;
  std::string cwd;
  std::vector<FileToTrust> files;
  std::optional<std::string> reason;
  std::optional<std::string> idempotency_key;

  bool operator==(const TrustWorkspace&) const = default;
};
BOOST_DESCRIBE_STRUCT(TrustWorkspace, (), (cwd, files, reason, idempotency_key))

}  // namespace agentrt::schema
