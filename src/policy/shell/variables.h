// policy/shell/variables.h: variables that steer bash or the programs it starts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/shell/syntax.h"

namespace agentrt::policy::shell {

// Why the assignment can make a command do something else; nothing when it cannot. For a command's
// own environment only names known to be harmless pass; within the text everything passes that bash
// itself does not look at and that commands do not get.
std::optional<std::string> steers(const Assignment& given);

// The same for a variable that gets a value which is not known, by for or read, or a number, by
// arithmetic.
enum class Value { unknown, number };
std::optional<std::string> steers(const std::string& name, Value value = Value::unknown);

}  // namespace agentrt::policy::shell
