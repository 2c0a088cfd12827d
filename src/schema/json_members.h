// schema/json_members.h: detects repeated member names of a JSON object.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace agentrt::schema {

// The first repeated member name, compared after resolving escapes; nullopt if all are distinct.
// REQUIRES: `object` passed check_json() and is an object.
std::optional<std::string> repeated_member(std::string_view object);

}  // namespace agentrt::schema
