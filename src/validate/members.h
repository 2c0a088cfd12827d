// validate/members.h: the payload members whose names the standard fixes.
#pragma once

#include <string_view>
#include <vector>

namespace agentrt::validate {

enum class Need { required, optional };

struct FixedMember {
  std::vector<std::string_view> names;  // alternatives: one of them satisfies the rule
  Need need = Need::required;
};

// The fixed members of an event type; empty if the standard fixes none.
std::vector<FixedMember> fixed_members(std::string_view type);

}  // namespace agentrt::validate
