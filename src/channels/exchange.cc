#include "channels/exchange.h"

#include <fmt/format.h>

#include "channels/request_checks.h"

namespace agentrt::channels {

ports::Caller caller_of(const Exchange& exchange) {
  const Head& head = exchange.request.head;
  ports::Caller caller;
  caller.principal = exchange.identity->id;
  if (well_formed_id(head.request_id)) caller.request = RequestId{head.request_id};
  caller.trace = trace_of(head.traceparent);
  return caller;
}

Result<void> check_command(const Identity& identity, const schema::Command& command) {
  const schema::CommandTraits& traits = schema::traits_of(command);
  if (!identity.allows(traits.scope))
    return fail(Code::forbidden, fmt::format("{} needs a token with scope {}", traits.name,
                                             schema::name_of(traits.scope)));
  if (!identity.may_touch(schema::session_of(command)))
    return fail(Code::forbidden, "the token is bound to another session");
  return {};
}

void answer_command(Services& services, const ExchangePtr& exchange, schema::Command command) {
  if (const auto allowed = check_command(*exchange->identity, command); !allowed)
    return exchange->respond(error_response(allowed.error()));
  services.sink.call(
      std::move(command), caller_of(*exchange),
      [inbox = services.inbox, waiting = std::weak_ptr(exchange)](ports::Reply reply) mutable {
        inbox->post([waiting, reply = std::move(reply)]() mutable {
          if (const auto asker = waiting.lock()) asker->respond(reply_response(std::move(reply)));
        });
      });
}

}  // namespace agentrt::channels
