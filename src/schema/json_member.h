// schema/json_member.h: one member of a foreign JSON object whose name our codec cannot
// spell, such as _meta. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "schema/json.h"

namespace agentrt::schema {

// nullopt: it is absent. REQUIRES: `object` passed check_json().
std::optional<Json> member_of(std::string_view object, std::string_view name);

}  // namespace agentrt::schema
