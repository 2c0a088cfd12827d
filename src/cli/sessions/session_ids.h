// cli/sessions/session_ids.h: names of sessions on the command line.
//
// A session is named by its id, or by a prefix that no other session has. An id that matches
// exactly always wins. The runtime knows only whole ids; the prefix is resolved here, among the
// kSessionsMax newest sessions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "cli/client.h"
#include "schema/snapshots.h"

namespace agentrt::cli {

// How many sessions are searched for a prefix, a folder or a text.
inline constexpr std::size_t kSessionsMax = 10'000;
// How many sessions an error message lists.
inline constexpr std::size_t kMatchesShownMax = 8;
inline constexpr std::size_t kNearMatchesMax = 3;

// The newest sessions, without the one of the runtime itself, in order of creation, newest first.
Result<std::vector<schema::SessionSummary>> read_sessions(const Client& client);

// A short prefix of each id that no other one in the list has. The id of a session that a caller
// named is not shortened. The prefix contains the whole time of creation, so that a later session
// cannot make it ambiguous.
std::vector<std::string> short_ids(const std::vector<SessionId>& ids);

// Ids that `text` may have been meant to be, nearest first, at most kNearMatchesMax.
std::vector<std::string> near_matches(std::string_view text, const std::vector<SessionId>& ids);

// The id that `text` names among `ids`. Errors: invalid_params (several begin with it; the error
// lists them), not_found (with near matches). Pure.
Result<SessionId> match_id(std::string_view text, const std::vector<SessionId>& ids);

// The id of the session that `text` names. Errors: those of match_id(), invalid_params if `text`
// cannot be the beginning of an id, and those of the client.
Result<SessionId> find_session(const Client& client, const std::string& text);
// The same for a session that is known not to have exactly this id.
Result<SessionId> find_by_prefix(const Client& client, const std::string& text);

// The id for an object that may name a session before it exists, such as a token: expands the
// beginning of a generated id, and returns everything else unchanged.
Result<std::string> expanded_id(const Client& client, const std::string& text);

// The session of this folder (empty: of any) that was used last. Errors: not_found.
Result<SessionId> last_session_of(const Client& client, const std::string& folder);

}  // namespace agentrt::cli
