// validate/rules.h: the table of conformance rules.
//
// A rule id is stable: it is never renamed or reused. `agentrt validate --explain` prints this
// table, and a test compares it with docs/conformance.md.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace agentrt::validate {

// A broken `must` makes the stream non-conformant; a broken `should` is only reported.
enum class Severity { must, should };
// core: the public core of the standard. full: every family.
enum class Profile { core, full };
// provisional: tested only with handwritten streams, since this runtime does not yet write the
// facts that the rule checks.
enum class Standing { settled, provisional };

struct Rule {
  std::string_view id;
  Severity severity;
  Profile profile;  // the smallest profile that includes the rule
  Standing standing;
  std::string_view protects;  // one sentence: the guarantee that holds while the rule is kept
  std::string_view broken_by;
};

std::span<const Rule> rules();
// nullptr if there is no such rule.
const Rule* find_rule(std::string_view id);

std::string_view name_of(Severity severity);
std::string_view name_of(Profile profile);

// Link to the rule's documentation: docs/conformance.md#turnorder
std::string link_of(const Rule& rule);

}  // namespace agentrt::validate
