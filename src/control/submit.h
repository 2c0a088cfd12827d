// control/submit.h: checks that commands which submit work share.
#pragma once

#include "control/decide.h"

namespace agentrt::control {

// The refusal of a mode or sandbox that the managed configuration forbids.
std::optional<Error> forbidden_options(const schema::TurnOptions& options,
                                       const Settings& settings);

}  // namespace agentrt::control
