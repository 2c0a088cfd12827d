// schema/json_members.h: what the members of an object are called.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace agentrt::schema {

// A name that the object has twice, whichever way its characters are escaped. REQUIRES: `object`
// passed check_json() and is an object.
std::optional<std::string> repeated_member(std::string_view object);

}  // namespace agentrt::schema
