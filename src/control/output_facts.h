// control/output_facts.h: the facts about bytes that were stored behind a ref, written once for
// every decision that has such bytes: uploads, tools, processes.
#pragma once

#include "control/turn_facts.h"
#include "schema/outputs.h"

namespace agentrt::control {

// output.spilled and, where they hold, output.truncated and output.redacted, in the scope of
// whoever produced the bytes. REQUIRES: `output` came from the port that stores bytes.
void add_output(Facts& facts, const schema::SessionScope& scope, const schema::KeptOutput& output,
                const Inputs& inputs);

}  // namespace agentrt::control
