// control/output_facts.h: the facts about a stored output, shared by every decision that has
// outputs: uploads, tools, processes.
#pragma once

#include "control/turn_facts.h"
#include "schema/outputs.h"

namespace agentrt::control {

// How long the bytes behind a ref are kept: as [outputs] says, or as long as the session, because
// the history needs them.
enum class KeptFor { days, session };

// Adds output.spilled and, if they apply, output.truncated and output.redacted, in the scope of the
// producer. REQUIRES: `output` came from an OutputKeeper.
void add_output(Facts& facts, const schema::SessionScope& scope, const schema::KeptOutput& output,
                const Inputs& inputs, KeptFor how_long = KeptFor::days);

}  // namespace agentrt::control
