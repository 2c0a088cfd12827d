#include <fmt/format.h>

#include "channels/handlers/handlers.h"
#include "channels/handlers/metrics_text.h"

namespace agentrt::channels {

void get_health(Services&, const ExchangePtr& exchange) {
  Response response;
  response.body = R"({"status":"ok"})";
  exchange->respond(std::move(response));
}

// Ready whenever it listens, because it starts after the store and the core, unless the store has
// disappeared since.
void get_readiness(Services& services, const ExchangePtr& exchange) {
  if (services.problem)
    if (const auto problem = services.problem()) return exchange->respond(error_response(*problem));
  get_health(services, exchange);
}

void get_metrics(Services& services, const ExchangePtr& exchange) {
  Response response;
  response.content_type = kMetricsContentType;
  services.metrics.http_reply_bytes = services.replies->held();
  response.body = metrics_text(services.metrics);
  exchange->respond(std::move(response));
}

namespace {

void send_document(Services& services, const ExchangePtr& exchange, const std::string& file) {
  auto text = services.documents(file);
  if (!text)
    return exchange->respond(
        error_response({Code::not_found, fmt::format("there is no schema {}", file), {}}));
  Response response;
  response.body = *std::move(text);
  response.only_reads = true;
  exchange->respond(std::move(response));
}

}  // namespace

void get_openapi(Services& services, const ExchangePtr& exchange) {
  send_document(services, exchange, "openapi.json");
}

void get_schema(Services& services, const ExchangePtr& exchange) {
  send_document(services, exchange, exchange->request.ids[0]);
}

}  // namespace agentrt::channels
