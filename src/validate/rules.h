// validate/rules.h: the rules that a stream is judged by, as data.
//
// An id is stable: it is never renamed and never used for another rule. The same table is printed
// by `agentrt validate --explain` and held against docs/conformance.md by a test.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace agentrt::validate {

// A broken `must` makes a stream not conformant; a broken `should` is reported beside it.
enum class Severity { must, should };
// core: the standard's public core. full: every family.
enum class Profile { core, full };
// provisional: so far exercised by written streams alone, since this runtime does not write the
// facts that it judges.
enum class Standing { settled, provisional };

struct Rule {
  std::string_view id;
  Severity severity;
  Profile profile;  // the smaller profile that it belongs to
  Standing standing;
  std::string_view protects;  // one sentence: what nobody can rely on when it is broken
  std::string_view broken_by;
};

std::span<const Rule> rules();
// Null for an id that is none.
const Rule* find_rule(std::string_view id);

std::string_view name_of(Severity severity);
std::string_view name_of(Profile profile);

// Where a rule is explained: docs/conformance.md#turn-order
std::string link_of(const Rule& rule);

}  // namespace agentrt::validate
