// cli/sessions/rollback_text.h: describes what a rollback removes and what remains. Pure.
#pragma once

#include <string>

#include "cli/views/terminal.h"
#include "schema/commands/history.h"

namespace agentrt::cli {

// The removed turns, the effects and the files, with totals where a list is cut.
std::string rollback_text(const schema::RollbackThreadReply& reply, std::size_t width,
                          Colour colour);
// Whether there is anything to roll back or restore.
bool removes_nothing(const schema::RollbackThreadReply& reply);

}  // namespace agentrt::cli
