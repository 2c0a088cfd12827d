// state/processes.h: what facts do to the processes in the background of a session. Pure, like
// fold(), whose part this is: each function takes one fact, and one about any other process changes
// nothing.
#pragma once

#include "state/session.h"

namespace agentrt::state {

// The open process that the fact is about; nullptr: it is about none.
Process* process_of(Session& session, const schema::Fact& fact);

// REQUIRES: the fact says that it runs in the background.
void add_process(Session& session, const schema::Fact& fact, const schema::ProcessStarted& started);
void show_output(Process& process, const schema::ProcessOutput& output);
void take_input(Process& process, const schema::ProcessInput& input);
void end_process(Session& session, const schema::Fact& fact, schema::ProcessStatus status,
                 std::optional<std::int64_t> exit_code = {});

}  // namespace agentrt::state
