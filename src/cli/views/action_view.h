// cli/views/action_view.h: renders an action, such as a permission request, as a question. Pure.
//
// The content to approve is shown complete and verbatim. Characters that a terminal would interpret
// or hide are escaped, never removed, so that users approve exactly what they see. A command that
// leaves the sandbox is announced first, in words and in colour.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/views/call_view.h"
#include "schema/commands/actions.h"

namespace agentrt::cli {

// What is requested, where, why, and what each answer means.
std::string question_text(const schema::ActionSnapshot& action, Paper paper);
// The prompt for the answer.
std::string answer_prompt(const schema::ActionSnapshot& action, Paper paper);

// Parses a typed answer. On failure, the error message explains what is wrong.
Result<schema::RespondAction> read_answer(const schema::ActionSnapshot& action,
                                          std::string_view line);
// A line that explains why the typed answer is invalid.
std::string refusal_text(std::string_view why, Paper paper);
// A line that explains how to answer from elsewhere, after input at this terminal has ended.
std::string elsewhere_text(const schema::ActionSnapshot& action, Paper paper);

// What is requested, in one line: the command, or the question.
std::string subject_line(const schema::ActionSnapshot& action);
// The commands that answer it from any terminal.
std::string answer_commands(const ActionId& action);

// The open actions, as a table.
std::string actions_text(const std::vector<schema::ActionSnapshot>& actions, Timestamp now,
                         Paper paper);

// The decision that a shell text would get, and the verdict of every source.
std::string explanation_text(const schema::EvaluatePermissionReply& reply, std::string_view text,
                             Paper paper);

}  // namespace agentrt::cli
