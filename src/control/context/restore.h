// control/context/restore.h: the turn that gives files back the content that they had before the
// turns that a rollback removed.
//
// Its calls are made by the runtime, not by a model. Policy judges each as a write_file of its
// path.
#pragma once

#include "control/turn_facts.h"

namespace agentrt::control {

// Submits and starts the turn. REQUIRES: the thread has no running turn with the facts so far.
void begin_restore(Facts& facts, const schema::TurnIds& turn, const schema::RestoreRange& range,
                   std::optional<bool> interactive);

}  // namespace agentrt::control
