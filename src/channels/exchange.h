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
#include "channels/output_access.h"
#include "channels/reply_budget.h"
#include "channels/request.h"
#include "channels/sse_hub.h"
#include "channels/tokens.h"

namespace agentrt::channels {

// The published text called that (openapi.json, events.schema.json, …), or nothing. Any thread.
using Documents = std::function<std::optional<std::string>(std::string_view file)>;

// What the handlers work with; one for the whole server. Commands, streams and outputs take only
// requests that passed Authorization.
struct Services {
  ports::CommandSink& sink;
  OutputAccess outputs;
  ports::Metrics& metrics;
  Tokens& tokens;
  const Documents& documents;
  SseHub& hub;
  std::shared_ptr<Inbox> inbox;
  std::shared_ptr<ReplyBudget> replies;
  // Why the runtime is not ready; may be empty.
  const std::function<std::optional<Error>()>& problem;
};

// A reply's body that comes in pieces, each asked for when the peer has taken the one before.
class BodySource {
 public:
  virtual ~BodySource() = default;
  using PieceTo = std::move_only_function<void(Result<std::string>)>;
  // Answered from the inbox, with a piece that is not empty.
  virtual void next(PieceTo piece_to) = 0;
};

class Exchange {
 public:
  Request request;
  std::shared_ptr<const Identity> identity;  // absent on routes that are open to all

  // Exactly one of these, once.
  virtual void respond(Response response) = 0;
  // REQUIRES: head.length, which is what the pieces add up to.
  virtual void send(Response head, std::shared_ptr<BodySource> body) = 0;
  virtual void stream(std::shared_ptr<Subscriber> subscriber) = 0;

 protected:
  ~Exchange() = default;
};
using ExchangePtr = std::shared_ptr<Exchange>;

}  // namespace agentrt::channels
