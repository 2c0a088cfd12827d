// channels/routes.h: the table of all routes of the server.
//
// A route names the scope that its token needs. The connection checks it before the body is read.
// What a handler asks of the control plane is checked again, by Authorization, with the decoded
// request. A test calls every row without a token, with a wrong one and with one of insufficient
// scope. To add a route, add a row.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "channels/exchange.h"

namespace agentrt::channels {

enum class Access {
  open,        // no token; returns no data, or checks a login code itself
  by_command,  // the scope of the command named by {command}
  by_call,     // any token; each contained call is checked separately
  any_token,   // any token; concerns that token alone
  read,
  submit,
  approve,
  admin,
};

using Handler = void (*)(Services& services, const ExchangePtr& exchange);

// Opens the destination of an upload before its body is read.
using UploadBegin = Result<std::shared_ptr<AuthorizedUpload>> (*)(Services& services,
                                                                  const Head& head,
                                                                  const Query& query,
                                                                  const Identity& identity);

struct Route {
  Method method;             // HEAD uses the row of GET
  std::string_view pattern;  // {…} matches one segment
  Access access;
  Handler handler;
  UploadBegin upload = nullptr;  // if set, the body is arbitrary bytes, read in parts
  bool local = false;            // served on the Unix socket only; over TCP it is not_found
};

std::span<const Route> routes();

struct RouteMatch {
  const Route* route = nullptr;
  std::vector<std::string> ids;
  std::string allow;  // if only the method is wrong: the allowed methods
};
RouteMatch match_route(Method method, const std::vector<std::string>& path);

// Checks whether `identity` may use the matched route. `local`: the request came over the Unix
// socket. Fails with unauthenticated, forbidden, or not_found (an unknown command, or a local route
// over TCP).
Result<void> check_access(const RouteMatch& match, const Identity* identity, bool local);

}  // namespace agentrt::channels
