// channels/exchange.h: one request on its way to its answer, as a route's handler sees it.
//
// A handler answers now or later: it keeps a weak reference, hands work to the core or the feed,
// and answers from the inbox. Whoever is gone by then needs no answer. Network thread only.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "channels/inbox.h"
#include "channels/request.h"
#include "channels/sse_hub.h"
#include "channels/tokens.h"

namespace agentrt::channels {

// The published text called that (openapi.json, events.schema.json, …), or nothing. Any thread.
using Documents = std::function<std::optional<std::string>(std::string_view file)>;

// What the handlers work with; one for the whole server.
struct Services {
  ports::CommandSink& sink;
  ports::FactFeed& feed;
  ports::Metrics& metrics;
  Tokens& tokens;
  const Documents& documents;
  SseHub& hub;
  std::shared_ptr<Inbox> inbox;
};

class Exchange {
 public:
  Request request;
  std::shared_ptr<const Identity> identity;  // absent on routes that are open to all

  // Exactly one of these, once.
  virtual void respond(Response response) = 0;
  virtual void stream(std::shared_ptr<Subscriber> subscriber) = 0;

 protected:
  ~Exchange() = default;
};
using ExchangePtr = std::shared_ptr<Exchange>;

}  // namespace agentrt::channels
