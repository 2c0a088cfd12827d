// cli/views/action_view.h: a decision as a person is asked for it. Pure.
//
// What will run is shown whole and as it is: characters that a terminal would act on or hide are
// written out, never taken out, so that nobody approves something else than what they see.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/views/terminal.h"
#include "schema/commands/actions.h"

namespace agentrt::cli {

// What is asked, where, why, and what each answer means.
std::string question_text(const schema::ActionSnapshot& action, Colour colour);
// The line that is answered on.
std::string answer_prompt(const schema::ActionSnapshot& action, Colour colour);

// What a person typed, as an answer; else a sentence about what is wrong with it.
Result<schema::RespondAction> read_answer(const schema::ActionSnapshot& action,
                                          std::string_view line);
// A line that says why what was typed does not count.
std::string refusal_text(std::string_view why, Colour colour);
// A line for when nobody answers at this terminal any more: how it is answered all the same.
std::string elsewhere_text(const schema::ActionSnapshot& action, Colour colour);

// The decisions that are waited for, as a table.
std::string actions_text(const std::vector<schema::ActionSnapshot>& actions, Timestamp now,
                         std::size_t width, Colour colour);

// The decision that a text would get, and every source that spoke.
std::string explanation_text(const schema::EvaluatePermissionReply& reply, std::string_view text,
                             Colour colour);

}  // namespace agentrt::cli
