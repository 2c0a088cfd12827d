#include <fmt/format.h>

#include "channels/handlers/handlers.h"
#include "channels/handlers/metrics_text.h"

namespace agentrt::channels {

// A server that listens is ready: it starts after the store is open and the core runs.
void get_health(Services&, const ExchangePtr& exchange) {
  Response response;
  response.body = R"({"status":"ok"})";
  exchange->respond(std::move(response));
}

void get_metrics(Services& services, const ExchangePtr& exchange) {
  Response response;
  response.content_type = kMetricsContentType;
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
