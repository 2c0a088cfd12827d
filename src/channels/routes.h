// channels/routes.h: every route of the server, in one table.
//
// A route names what its token must allow; the connection checks that before the handler runs, and
// a test calls every row without, with a wrong and with a too narrow token. Adding a route is
// adding a row.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "channels/exchange.h"

namespace agentrt::channels {

enum class Access {
  open,        // no token; carries no data
  by_command,  // the scope of the command that {command} names
  by_call,     // any token; each call within is judged by itself
  read,
  submit,
  approve,
  admin,
};

using Handler = void (*)(Services& services, const ExchangePtr& exchange);

// Says where the body of an upload goes, before any of it is read.
using UploadBegin = Result<std::shared_ptr<ports::OutputUpload>> (*)(Services& services,
                                                                     const Head& head,
                                                                     const Query& query,
                                                                     const Identity& identity);

struct Route {
  Method method;             // HEAD goes where GET does
  std::string_view pattern;  // {…} stands for one segment
  Access access;
  Handler handler;
  UploadBegin upload = nullptr;  // set: the body is bytes of any kind, taken in parts
};

std::span<const Route> routes();

struct RouteMatch {
  const Route* route = nullptr;
  std::vector<std::string> ids;
  std::string allow;  // where only the method is wrong: the methods there are
};
RouteMatch match_route(Method method, const std::vector<std::string>& path);

// Whether `identity` may use the matched route: unauthenticated, forbidden, not_found (a command
// that does not exist).
Result<void> check_access(const RouteMatch& match, const Identity* identity);

}  // namespace agentrt::channels
