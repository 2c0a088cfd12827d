// control/processes.h: what a process makes true: what it wrote and tried, how it ended, and those
// that go on in the background when their call has ended.
#pragma once

#include "control/turn_facts.h"

namespace agentrt::control {

// What it wrote and tried.
void add_news(Facts& facts, const schema::ProcessScope& scope,
              const schema::ReportProcessNews& news);
// How it ended, and with it what was kept of its output.
void add_end(Facts& facts, const schema::ProcessScope& scope, const schema::ReportToolEnded& report,
             const Inputs& inputs);

// The process in the background with this id; nullptr: there is none, or no longer.
const state::Process* find_process(const Session& view, const ProcessId& process);

// Why no further process may go on in the background, if so.
std::optional<schema::Failure> no_room_in_background(const Session& view, const Inputs& inputs);
// What the call of a process that goes on in the background gives back.
std::string background_preview(const ProcessId& process);

Decision background_news(const Session& view, const state::Process& process,
                         const schema::ReportProcessNews& report, const Inputs& inputs);
Decision background_ended(const Session& view, const state::Process& process,
                          const schema::ReportToolEnded& report, const Inputs& inputs);
// Asks those that the turn started to end.
void end_background(Facts& facts, const Session& view, const TurnId& turn,
                    const std::string& reason);

}  // namespace agentrt::control
