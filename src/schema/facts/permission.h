// schema/facts/permission.h: what may run and who said so: decisions, the actions that wait for
// one, sandboxes.
#pragma once

#include "schema/scope.h"
#include "schema/values.h"

namespace agentrt::schema {

BOOST_DEFINE_ENUM_CLASS(Decision, allow, deny, ask, unavailable, sandboxed)

BOOST_DEFINE_ENUM_CLASS(DecisionSource, mode, rule, hook, classifier, human, host_policy)

BOOST_DEFINE_ENUM_CLASS(ViolationKind, network, filesystem, process)

// What one source said.
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
  std::optional<std::string> digest;  // over what will run

  bool operator==(const PermissionEvaluated&) const = default;
};
BOOST_DESCRIBE_STRUCT(PermissionEvaluated, (),
                      (decision, decision_source, decision_reason, rule_refs, chain, destructive,
                       digest))

struct PermissionRequested {
  static constexpr std::string_view kType = "permission.requested";
  std::optional<std::string> tool_name;
  std::optional<std::string> reason;
  std::optional<std::string> digest;
  std::optional<Timestamp> expires_at;

  bool operator==(const PermissionRequested&) const = default;
};
BOOST_DESCRIBE_STRUCT(PermissionRequested, (), (tool_name, reason, digest, expires_at))

struct PermissionResolved {
  static constexpr std::string_view kType = "permission.resolved";
  Decision decision = Decision::deny;
  DecisionSource decision_source = DecisionSource::human;
  std::optional<std::string> scope;  // once, session, always
  std::optional<std::string> reason;
  std::optional<std::string> digest;

  bool operator==(const PermissionResolved&) const = default;
};
BOOST_DESCRIBE_STRUCT(PermissionResolved, (), (decision, decision_source, scope, reason, digest))

// Something waits for a decision; what it gates does not go on before.
struct ActionRequired {
  static constexpr std::string_view kType = "action.required";
  std::string action_type;
  std::optional<std::string> prompt;
  std::optional<Json> schema;                         // of a structured answer
  std::optional<std::vector<std::string>> decisions;  // what may be answered
  std::optional<std::string> digest;
  std::optional<Json> scope;
  std::optional<Json> policy;
  std::optional<Timestamp> expires_at;

  bool operator==(const ActionRequired&) const = default;
};
BOOST_DESCRIBE_STRUCT(ActionRequired, (),
                      (action_type, prompt, schema, decisions, digest, scope, policy, expires_at))

struct ActionResolved {
  static constexpr std::string_view kType = "action.resolved";
  std::string decision;
  std::string decision_source;
  std::optional<std::string> scope;
  std::optional<std::string> reason;
  std::optional<Json> payload;

  bool operator==(const ActionResolved&) const = default;
};
BOOST_DESCRIBE_STRUCT(ActionResolved, (), (decision, decision_source, scope, reason, payload))

// What the kernel enforces for a process, as it was applied.
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
  std::string change;
  std::optional<std::string> source;
  std::optional<std::vector<std::string>> rules;
  std::optional<std::string> reason;

  bool operator==(const PolicyChanged&) const = default;
};
BOOST_DESCRIBE_STRUCT(PolicyChanged, (), (change, source, rules, reason))

}  // namespace agentrt::schema
