#include <fmt/format.h>

#include "channels/handlers.h"
#include "channels/metrics_text.h"

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

void get_openapi(Services& services, const ExchangePtr& exchange) {
  Response response;
  response.body = services.documents.openapi;
  exchange->respond(std::move(response));
}

void get_schema(Services& services, const ExchangePtr& exchange) {
  const std::string& name = exchange->request.ids[0];
  const auto found = services.documents.schemas.find(name);
  if (found == services.documents.schemas.end())
    return exchange->respond(
        error_response({Code::not_found, fmt::format("there is no schema {}", name), {}}));
  Response response;
  response.body = found->second;
  exchange->respond(std::move(response));
}

}  // namespace agentrt::channels
