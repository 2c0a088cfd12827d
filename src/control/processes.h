// control/processes.h: the facts about processes: their output, violations and end, and background
// processes that continue after their call has ended.
#pragma once

#include "control/turn_facts.h"

namespace agentrt::control {

// Adds the output and the violations of a process.
void add_news(Facts& facts, const schema::ProcessScope& scope,
              const schema::ReportProcessNews& news);
// Adds the end of a process and its stored output.
void add_end(Facts& facts, const schema::ProcessScope& scope,
             const schema::ReportProcessEnded& report, const Inputs& inputs);

// The background process with this id; null: none, or it has ended.
const state::Process* find_process(const Session& view, const ProcessId& process);

// Why no further background process may start; empty: one may.
std::optional<schema::Failure> no_room_in_background(const Session& view, const Inputs& inputs);
// The result of a call whose process continues in the background.
std::string background_preview(const ProcessId& process);

Decided background_news(const Session& view, const state::Process& process,
                        const schema::ReportProcessNews& report, const Inputs& inputs);
Decided background_ended(const Session& view, const state::Process& process,
                         const schema::ReportProcessEnded& report, const Inputs& inputs);
// Requests the end of the background processes that the turn started.
void end_background(Facts& facts, const Session& view, const TurnId& turn,
                    const std::string& reason);

}  // namespace agentrt::control
