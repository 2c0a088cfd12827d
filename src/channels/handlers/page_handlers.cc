// The page and its assets. They need no token and contain no data: the page reads everything with a
// token that it gets from a login code.
#include <fmt/format.h>

#include "channels/handlers/handlers.h"
#include "channels/page.h"
#include "channels/request_checks.h"

namespace agentrt::channels {
namespace {

// The page runs only its own scripts, talks only to this daemon, and turns no text into HTML.
constexpr std::string_view kContentPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";
constexpr std::string_view kForEver = "public, max-age=31536000, immutable";

void send_file(const ExchangePtr& exchange, const PageFile& file, std::string_view cache) {
  Response response;
  response.content_type = file.media_type;
  response.cache_control = cache;
  response.fields = {{"Content-Security-Policy", std::string(kContentPolicy)},
                     {"Referrer-Policy", "no-referrer"},
                     {"Cross-Origin-Opener-Policy", "same-origin"},
                     {"Cross-Origin-Resource-Policy", "same-origin"},
                     {"Vary", "Accept-Encoding"}};
  if (accepts_gzip(exchange->request.head.accept_encoding)) {
    response.fields.emplace_back("Content-Encoding", "gzip");
    response.embedded = file.gzip;
  } else {
    auto text = unpacked(file.gzip);
    if (!text)
      return exchange->respond(
          error_response({Code::internal, "the page in this build is damaged", {}}));
    response.body = *std::move(text);
    response.only_reads = true;
  }
  exchange->respond(std::move(response));
}

void refuse(const ExchangePtr& exchange, std::string message) {
  exchange->respond(error_response({Code::not_found, std::move(message), {}}));
}

}  // namespace

void get_page(Services& services, const ExchangePtr& exchange) {
  const PageFile* const file = services.page.find(kPageIndex);
  if (!file)
    return refuse(exchange, "this build has no page: it was configured with AGENTRT_WEB=OFF");
  send_file(exchange, *file, "no-store");
}

void get_asset(Services& services, const ExchangePtr& exchange) {
  const std::string& name = exchange->request.ids[0];
  const PageFile* const file = name == kPageIndex ? nullptr : services.page.find(name);
  if (!file) return refuse(exchange, fmt::format("there is no asset {}", name));
  send_file(exchange, *file, kForEver);
}

}  // namespace agentrt::channels
