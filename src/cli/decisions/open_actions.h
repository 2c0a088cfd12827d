// cli/decisions/open_actions.h: reads the requests that wait for a person.
#pragma once

#include <vector>

#include "cli/client.h"
#include "cli/views/session_view.h"
#include "schema/commands/actions.h"

namespace agentrt::cli {

// All pages of the reply to list_actions.
Result<ListReply> list_all_actions(const Client& client, schema::ListActions params);
Result<std::vector<schema::ActionSnapshot>> decode_actions(const ListReply& list);
// The open actions of the session, or of all sessions.
Result<std::vector<schema::ActionSnapshot>> open_actions(const Client& client,
                                                         const std::optional<SessionId>& session);

}  // namespace agentrt::cli
