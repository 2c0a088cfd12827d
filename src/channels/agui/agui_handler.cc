// POST /agui: AG-UI runs for web front ends.
#include "channels/agui/agui_run.h"
#include "channels/handlers/handlers.h"

namespace agentrt::channels {

void post_agui(Services& services, const ExchangePtr& exchange) {
  auto input = read_agui_input(exchange->request.body);
  if (!input) return exchange->respond(error_response(input.error()));
  if (services.protocols.waiting.full())
    return exchange->respond(
        error_response({Code::overloaded, "too many requests are waiting; try again", {}}));
  AguiRun::begin(services, exchange, *std::move(input));
}

}  // namespace agentrt::channels
