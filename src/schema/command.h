// schema/command.h: what every command declares about itself.
#pragma once

#include "schema/values.h"

namespace agentrt::schema {

// What a token must allow. Approving is apart from submitting, so that no agent approves itself.
BOOST_DEFINE_ENUM_CLASS(TokenScope, read, submit, approve, admin)

enum class Effect { reads, mutates };

struct CommandTraits {
  std::string_view name;
  TokenScope scope;
  Effect effect;
};

}  // namespace agentrt::schema
