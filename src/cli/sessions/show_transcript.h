// cli/sessions/show_transcript.h: `agentrt show ID --transcript`.
#pragma once

#include "cli/context.h"

namespace agentrt::cli {

// Prints the conversation of the session as text, Markdown or JSON; at a terminal in the pager.
// Reads the log page by page and keeps only unfinished turns in memory.
Result<int> show_transcript(Context& context, const Client& client, const SessionId& session,
                            bool markdown);

}  // namespace agentrt::cli
