// schema/action_snapshot.h: the read model of an action: a decision requested from a person.
#pragma once

#include "schema/facts/permission.h"
#include "schema/policy.h"
#include "schema/values.h"

namespace agentrt::schema {

// An open action, or a resolved one with its answer. Index rows that earlier versions wrote have no
// `sequence`, `subcommands`, `executes`, `chain` and `answeredBy`.
struct ActionSnapshot {
  ActionId action_id;
  SessionId session_id;
  ThreadId thread_id;
  TurnId turn_id;
  std::optional<ToolCallId> tool_call_id;
  std::optional<SubagentId> subagent_id;  // that asks
  std::optional<std::string> subagent;    // its nickname, or else its role
  std::string status;                     // open, resolved
  std::optional<Sequence> sequence = {};  // of its action.required
  std::string action_type;
  std::optional<std::string> prompt;
  std::optional<Json> schema;
  std::optional<std::vector<std::string>> decisions;
  std::optional<std::string> digest;
  std::optional<std::vector<std::string>> scopes;
  std::optional<std::vector<std::string>> rules;
  std::optional<std::string> tool_name;
  std::optional<Json> input;
  std::optional<std::string> cwd;
  std::optional<std::string> reason;
  std::optional<SandboxMode> sandbox;
  std::optional<bool> outside_sandbox;
  std::optional<std::string> user;
  std::optional<bool> network;
  std::optional<std::vector<std::string>> subcommands = {};
  std::optional<bool> destructive;
  std::optional<std::string> impact;
  std::optional<std::string> rollback;
  std::optional<std::vector<ExecutedFile>> executes = {};
  std::optional<std::string> executes_unknown;
  std::optional<std::vector<Verdict>> chain = {};  // of the permission.evaluated that asks
  std::optional<std::vector<PolicyFile>> files;
  std::optional<std::string> server;
  std::optional<std::string> url;
  std::optional<Timestamp> expires_at;
  Timestamp required_at;
  std::optional<std::string> decision;
  std::optional<std::string> decision_source;
  std::optional<std::string> answered_by = {};  // the principal who answered
  std::optional<Timestamp> resolved_at;

  bool operator==(const ActionSnapshot&) const = default;
};
BOOST_DESCRIBE_STRUCT(ActionSnapshot, (),
                      (action_id, session_id, thread_id, turn_id, tool_call_id, subagent_id,
                       subagent, status, sequence, action_type, prompt, schema, decisions, digest,
                       scopes, rules, tool_name, input, cwd, reason, sandbox, outside_sandbox, user,
                       network, subcommands, destructive, impact, rollback, executes,
                       executes_unknown, chain, files, server, url, expires_at, required_at,
                       decision, decision_source, answered_by, resolved_at))

}  // namespace agentrt::schema
