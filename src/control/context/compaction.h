// control/context/compaction.h: the steps of a compaction that other decisions need.
#pragma once

#include "control/turn_facts.h"

namespace agentrt::control {

// Whether the turn may be compacted without a command.
bool may_compact(const Thread& thread, const Turn& turn, const Settings& settings);
// Whether a request of this size is preceded by an automatic compaction. Sizes in tokens;
// limit 0: unknown, no compaction.
bool compacts_at(const Thread& thread, const Turn& turn, const Settings& settings,
                 std::uint64_t used, std::uint64_t limit);
// The engine plans the compaction next. `trigger`: manual, automatic or overflow.
void begin_compaction(Facts& facts, const Turn& turn, std::string_view trigger);
// A request for a piece of the summary has ended. REQUIRES: the turn's open request is one.
Decided summary_written(const Session& view, const Thread& thread,
                        const schema::ReportModelCompleted& report, Inputs inputs);
void summary_failed(Facts& facts, const Thread& thread, const Turn& turn,
                    const schema::Failure& error);

}  // namespace agentrt::control
