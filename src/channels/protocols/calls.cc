#include "channels/protocols/calls.h"

#include "channels/handlers/handlers.h"

namespace agentrt::channels {

ActingAs acting_as(const Exchange& exchange) {
  return {exchange.identity, origin_of(exchange.request.head)};
}

void call_text(Services& services, const ActingAs& as, schema::Command command, TextDone done) {
  auto allowed = Authorization::command(as.identity.get(), std::move(command), as.origin);
  if (!allowed) return done(std::unexpected(allowed.error()));
  services.desk.call(*std::move(allowed),
                     [inbox = services.inbox, done = std::move(done)](ports::Reply reply) mutable {
                       inbox->post([done = std::move(done), reply = std::move(reply)]() mutable {
                         done(std::move(reply));
                       });
                     });
}

}  // namespace agentrt::channels
