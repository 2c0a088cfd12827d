// state/processes.h: applies facts to the background processes of a session. Pure; part of fold().
// Each function applies one fact.
#pragma once

#include "state/session.h"

namespace agentrt::state {

// The open process that the fact names; nullptr if there is none.
Process* process_of(Session& session, const schema::Fact& fact);

// REQUIRES: the fact starts a background process.
void add_process(Session& session, const schema::Fact& fact, const schema::ProcessStarted& started);
void show_output(Process& process, const schema::ProcessOutput& output);
void take_input(Process& process, const schema::ProcessInput& input);
void end_process(Session& session, const schema::Fact& fact, schema::ProcessStatus status,
                 std::optional<std::int64_t> exit_code = {});

}  // namespace agentrt::state
