// schema/command.h: the traits that every command declares: name, required scope, effect.
#pragma once

#include "schema/values.h"

namespace agentrt::schema {

// The scope that a token needs. Approving is separate from submitting, so that an agent cannot
// approve its own calls.
BOOST_DEFINE_ENUM_CLASS(TokenScope, read, submit, approve, admin)

enum class CommandEffect { reads, mutates };

struct CommandTraits {
  std::string_view name;
  TokenScope scope;
  CommandEffect effect;
};

}  // namespace agentrt::schema
