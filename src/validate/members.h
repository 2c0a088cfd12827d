// validate/members.h: the payload members whose names the standard fixes.
#pragma once

#include <string_view>
#include <vector>

namespace agentrt::validate {

enum class Need { required, optional };

struct FixedMember {
  std::vector<std::string_view> names;  // one of them
  Need need = Need::required;
};

// Of an event type; empty where nothing is fixed.
std::vector<FixedMember> fixed_members(std::string_view type);

}  // namespace agentrt::validate
