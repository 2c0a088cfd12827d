// channels/exchange.h: one HTTP request in progress, as its route handler sees it.
//
// A handler replies now or later: it keeps a weak reference, passes work to the core or the feed,
// and replies from the inbox. If the connection is gone by then, the reply is dropped. Network
// thread only.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "channels/desk/channel_desk.h"
#include "channels/inbox.h"
#include "channels/login_codes.h"
#include "channels/output_access.h"
#include "channels/page.h"
#include "channels/protocols/ticker.h"
#include "channels/reply_budget.h"
#include "channels/request.h"
#include "channels/sse_hub.h"
#include "channels/tokens.h"
#include "channels/upgraded.h"
#include "ports/client_environments.h"
#include "ports/mcp_access.h"

namespace agentrt::channels {

// Returns the published document with this name (openapi.json, events.schema.json, …), if any. Any
// thread.
using Documents = std::function<std::optional<std::string>(std::string_view file)>;

// When a background owner of the data folder is to leave: at once, or only if nothing but the
// connection that asks needs it.
enum class LeaveWhen { now, idle };
// True: the process is about to stop. Any thread.
using Leave = std::function<bool(LeaveWhen when)>;

struct Protocols;  // channels/protocols/protocols.h

// What the handlers work with; one for the whole server. Commands, streams and outputs take only
// requests that passed Authorization.
struct Services {
  ChannelDesk& desk;  // every command passes it
  OutputAccess outputs;
  ports::Metrics& metrics;
  Tokens& tokens;
  LoginCodes logins;
  const Page& page;
  const Documents& documents;
  SseHub& hub;
  std::shared_ptr<Inbox> inbox;
  std::shared_ptr<ReplyBudget> replies;
  // Why the runtime is not ready; the function may be empty.
  const std::function<std::optional<Error>()>& problem;
  // Ends the process; empty: it does not leave on request.
  const Leave& leave;
  ports::ClientEnvironments* environments;  // null: clients supply none
  ports::McpAccess* mcp;                    // null: there are no MCP servers
  const ChannelLimits& channels;
  Ticker& ticker;
  Protocols& protocols;
};

// A body that is sent in pieces; the next piece is requested when the peer has taken the last.
class BodySource {
 public:
  virtual ~BodySource() = default;
  using PieceTo = std::move_only_function<void(Result<std::string>)>;
  // Calls `piece_to` from the inbox with a non-empty piece, or an error.
  virtual void next(PieceTo piece_to) = 0;
};

class Exchange {
 public:
  Request request;
  std::shared_ptr<const Identity> identity;  // absent on routes without authentication
  bool local = false;                        // it came over the Unix socket

  // Call exactly one of these, once.
  virtual void respond(Response response) = 0;
  // REQUIRES: head.length is the total size of the pieces.
  virtual void send(Response head, std::shared_ptr<BodySource> body) = 0;
  virtual void stream(std::shared_ptr<Subscriber> subscriber) = 0;
  // Sends `head`, and the connection leaves HTTP.
  virtual void upgrade(std::string head, const MakeUpgraded& make) = 0;

 protected:
  ~Exchange() = default;
};
using ExchangePtr = std::shared_ptr<Exchange>;

}  // namespace agentrt::channels
