// policy/shell/variables.h: variables that change how bash or the programs it starts behave.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/shell/syntax.h"

namespace agentrt::policy::shell {

// Why the assignment can make a command do something else; nullopt: it cannot. For an exported
// variable only names known to be harmless pass. For a shell variable all names pass that neither
// bash nor the environment uses.
std::optional<std::string> steers(const Assignment& given);

// The same for a variable that is set to an unknown value (for, read) or to a number (arithmetic).
enum class Value { unknown, number };
std::optional<std::string> steers(const std::string& name, Value value = Value::unknown);

}  // namespace agentrt::policy::shell
