#include <fmt/format.h>

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
  if (body.empty()) return LeaveWhen::now;
  TRY(schema::check_json(body));
  TRY(schema::from_json(body, params, schema::Unknown::refuse));
  if (params.when.value_or("now") == "now") return LeaveWhen::now;
  if (params.when == "idle") return LeaveWhen::idle;
  return fail(Code::invalid_params, "when: expected now or idle");
}

}  // namespace

void post_environment(Services& services, const ExchangePtr& exchange) {
  const std::string& turn = exchange->request.ids[0];
  const std::string& body = exchange->request.body;
  const auto refuse = [&](Code code, std::string message) {
    exchange->respond(error_response({code, std::move(message), {}}));
  };
  if (exchange->identity->session)
    return refuse(Code::forbidden, "a token that is bound to a session supplies no environment");
  if (!well_formed_id(turn)) return refuse(Code::invalid_params, "the path names no turn");
  if (body.size() > ports::kClientEnvironmentBytesMax)
    return refuse(Code::too_large,
                  fmt::format("an environment has at most {} bytes; unset long variables",
                              ports::kClientEnvironmentBytesMax));
  if (!services.environments) return refuse(Code::conflict, "no environments are taken here");
  ports::ClientEnvironment environment;
  auto read = schema::check_json(body);
  if (read) read = schema::from_json(body, environment, schema::Unknown::refuse);
  if (!read) return exchange->respond(error_response(read.error()));
  services.environments->offer(TurnId(turn), std::move(environment), reply_to(services, exchange));
}

void get_environments(Services& services, const ExchangePtr& exchange) {
  Response response;
  if (services.environments) response.body = schema::to_json(services.environments->held());
  exchange->respond(std::move(response));
}

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
