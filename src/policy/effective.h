// policy/effective.h: the policy that a turn is under, as one value.
//
// A session's policy, what people granted to it and the options of a turn together say how a call
// of that turn is judged. derive() is the only place that combines them; everything that judges is
// given its result. An Effective is immutable and may be passed to another thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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

  bool asks_people() const { return interactive == Interactive::yes; }
};

// The compiled rule sets that a RuleSets keeps. One more replaces the least recently used.
inline constexpr std::size_t kRuleSetsMax = 64;

// Compiled rules, kept by the text that they were compiled from: the rules of a session are
// compiled once per change, and sessions with the same rules share one set. What it keeps changes
// no result. For one thread at a time; the sets that it returns are immutable and may be passed on.
class RuleSets {
 public:
  using RuleList = std::vector<schema::PolicyRule>;

  RuleSets() = default;
  // Begins with a set that was compiled elsewhere.
  explicit RuleSets(std::shared_ptr<const Rules> known);

  // The rules of `first`, then those of `second`. invalid_params: one of them cannot be read. That
  // outcome is not kept, since rules are compiled before they are stored.
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
  const std::vector<schema::PolicyRule>& granted;  // to the session, by people
  std::optional<schema::PermissionMode> mode;      // of the session, set by people
  const schema::TurnOptions& turn;
};

// A turn's own mode and sandbox come before those of its session, a session's mode before that of
// its files. Rules of the session come before granted ones.
Effective derive(const Sources& sources, const std::string& home, RuleSets& sets);

}  // namespace agentrt::policy
