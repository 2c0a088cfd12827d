// control/submit.h: checks and texts that every way to submit a turn shares.
#pragma once

#include "control/turn_facts.h"

namespace agentrt::control {

std::optional<Error> wrong_input(const std::vector<schema::InputPart>& input);
// The objective of a turn's own task: the start of its input.
std::string objective_of(const std::vector<schema::InputPart>& input);
// A mode or sandbox that the managed configuration forbids.
std::optional<Error> forbidden_choice(const std::optional<schema::PermissionMode>& mode,
                                      const std::optional<schema::SandboxMode>& sandbox,
                                      const Settings& settings);
// Records that the turn is the next attempt of the task; its turn.submitted follows.
void next_attempt(Facts& facts, const state::Task& task, const schema::TurnIds& turn, bool queued);
// Whether resume_thread would continue the thread's turn.
bool is_resumable(const Thread& thread);

}  // namespace agentrt::control
