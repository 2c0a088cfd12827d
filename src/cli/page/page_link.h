// cli/page/page_link.h: the one-time link to the inspector page.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/client.h"
#include "runtime/data_folder.h"
#include "schema/codec.h"

namespace agentrt::cli {

struct PageLink {
  std::string url;
  std::vector<std::string> scopes;
  Timestamp expires_at;
};
BOOST_DESCRIBE_STRUCT(PageLink, (), (url, scopes, expires_at))

// The address at which a browser reaches the owner; nothing if it does not listen on TCP. For a
// wildcard address, the first host name of the owner, or 127.0.0.1.
std::optional<std::string> page_address(const runtime::Owner& owner);

// Asks the daemon for a login code. An empty list of scopes means the default ones. With `session`,
// the page opens there. Errors: unavailable if the build has no page, and those of the client.
Result<PageLink> make_page_link(const Client& client, const std::string& address,
                                const std::vector<std::string>& scopes,
                                const std::optional<std::string>& session);

// Opens the link in the user's browser, through the file `path`, which only the user can read: a
// process's arguments are visible to others. Errors: unavailable.
Result<void> open_in_browser(const std::string& url, const std::string& path);

}  // namespace agentrt::cli
