#include "channels/handlers/handlers.h"
#include "schema/codec.h"

namespace agentrt::channels {
namespace {

struct LeaveParams {
  std::optional<std::string> when;
};
BOOST_DESCRIBE_STRUCT(LeaveParams, (), (when))

Result<LeaveWhen> read_when(const std::string& body) {
  LeaveParams params;
  TRY(schema::check_json(body));
  TRY(schema::from_json(body, params, schema::Unknown::refuse));
  if (params.when.value_or("now") == "now") return LeaveWhen::now;
  if (params.when == "idle") return LeaveWhen::idle;
  return fail(Code::invalid_params, "when: expected now or idle");
}

}  // namespace

void post_leave(Services& services, const ExchangePtr& exchange) {
  const auto when = read_when(exchange->request.body);
  if (!when) return exchange->respond(error_response(when.error()));
  if (!services.leave)
    return exchange->respond(error_response(
        {Code::conflict, "this process was started by agentrt serve: stop it there", {}}));
  Response response;
  response.body = services.leave(*when) ? R"({"leaves":true})" : R"({"leaves":false})";
  exchange->respond(std::move(response));
}

}  // namespace agentrt::channels
