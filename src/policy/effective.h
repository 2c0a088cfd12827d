// policy/effective.h: the policy that a turn is under, as one value.
//
// How a call is judged depends on the session's policy, on the rules and the mode that users set
// for the session, and on the options of the turn. derive() is the only place that combines them.
// Its result is the input of every judgement (permission.h). An Effective is immutable and may be
// passed to another thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "schema/policy.h"
#include "schema/values.h"

namespace agentrt::policy {

struct Rules;

enum class Interactive { no, yes };

// A set without rules.
const std::shared_ptr<const Rules>& no_rules();

struct Effective {
  std::shared_ptr<const Rules> rules = no_rules();  // compiled; never null
  // Why the rules could not be compiled; `rules` is then empty and every call is denied. Rules are
  // compiled before they are stored, so this happens only to a log that another version wrote.
  std::optional<Error> unreadable = std::nullopt;
  schema::PermissionMode mode = schema::PermissionMode::default_;
  Interactive interactive = Interactive::yes;  // whether a person can be asked
  schema::SandboxMode sandbox = schema::SandboxMode::workspace_write;
  bool network = false;               // of commands in the sandbox
  std::string home = "/nonexistent";  // what ~ in rules, paths and commands stands for
  // The only tools that may be called; absent: all.
  std::optional<std::vector<std::string>> tools = std::nullopt;
  // Absolute folders: the only ones to write in, of those that the sandbox makes writable; absent:
  // all of them.
  std::optional<std::vector<std::string>> write_roots = std::nullopt;
  // Of a subagent: the policy of its parent now. A call needs the consent of both. Null: no parent.
  std::shared_ptr<const Effective> parent = nullptr;

  bool asks_people() const { return interactive == Interactive::yes; }
};

// The number of compiled rule sets that a RuleSets keeps. One more replaces the least recently
// used.
inline constexpr std::size_t kRuleSetsMax = 64;

// A cache of compiled rules by their source: the rules of a session are compiled once per change,
// and sessions with the same rules share one set. The cache changes no result. For one thread at a
// time; the sets that it returns are immutable and may be passed to other threads.
class RuleSets {
 public:
  using RuleList = std::vector<schema::PolicyRule>;

  RuleSets() = default;
  // Begins with a set that was compiled elsewhere.
  explicit RuleSets(std::shared_ptr<const Rules> known);

  // The rules of `first`, then those of `second`. Errors: invalid_params: a rule is not valid. An
  // error is not cached, because it is rare: rules are compiled before they are stored.
  Result<std::shared_ptr<const Rules>> compiled(const RuleList& first, const RuleList& second);

  // How often rules were compiled.
  std::uint64_t compilations() const { return compilations_; }

 private:
  struct Kept {
    std::uint64_t hash = 0;
    std::shared_ptr<const Rules> rules;
  };
  void keep(Kept set);

  std::vector<Kept> kept_;  // the most recently used first
  std::uint64_t compilations_ = 0;
};

// What an Effective is derived from. Refers to the caller's values.
struct Sources {
  const schema::Policy& policy;                    // of the session
  const std::vector<schema::PolicyRule>& granted;  // by users' answers, to the session
  std::optional<schema::PermissionMode> mode;      // set for the session by a user
  const schema::TurnOptions& turn;
  const std::optional<std::vector<std::string>>* write_roots = nullptr;  // of a subagent
};

// The mode is that of the turn, else the one set for the session, else that of the policy files.
// The sandbox is that of the turn, else that of the policy files. Rules of the files come before
// granted ones.
Effective derive(const Sources& sources, const std::string& home, RuleSets& sets);
// The policy of a turn of a subagent, narrowed by those above it: `chain` lists its own sources,
// then those of its parent, and so on. REQUIRES: the chain is not empty.
Effective derive(std::span<const Sources> chain, const std::string& home, RuleSets& sets);

// The policy of a subagent: never wider than that of its parent, also where the parent's has become
// stricter since the subagent was spawned. A person can be asked if the subagent's own turn says
// so.
Effective narrowed(Effective own, Effective parent);

// Whether neither this policy nor one above it lists tools without this one.
bool has_tool(const Effective& policy, std::string_view tool);

// The same policy with further rules, also in the policies above it.
Effective with_rules(const Effective& policy, const Rules& added);

}  // namespace agentrt::policy
