#include "adapters/mcp/login/asker.h"

#include <fmt/format.h>

#include "adapters/http/proxies.h"
#include "adapters/mcp/remedy.h"

namespace agentrt::adapters {

void Asker::ask(HttpRequest request, Reach reach, FetchedTo done) {
  const auto url = parse_url(request.url);
  const std::string place = url ? url->origin() + url->path : request.url;
  if (url && !has_proxy(*url))
    request.admits = [reach](const sockaddr& address) {
      const Reach found = reach_of(address);
      return found == Reach::public_ || found == reach;
    };
  request.timeouts.connect_ms = request.timeouts.first_byte_ms = kOauthRequestMs;
  request.timeouts.idle_ms = request.timeouts.whole_ms = kOauthRequestMs;
  fetch(streams_, std::move(request), kMetadataBytesMax,
        [&loop = loop_, here = here(), place, done = std::move(done)](Result<Fetched> got) mutable {
          if (!got) {
            std::string why = fmt::format("{} {}", place, got.error().message);
            got = std::unexpected(reworded(got.error(), std::move(why)));
          }
          loop.post([here, done = std::move(done), got = std::move(got)]() mutable {
            if (!here.expired()) done(std::move(got));
          });
        });
}

void Asker::get(const std::string& url, Reach reach, FetchedTo done) {
  HttpRequest request;
  request.method = HttpMethod::get;
  request.url = url;
  request.headers = {"Accept: application/json"};
  ask(std::move(request), reach, std::move(done));
}

}  // namespace agentrt::adapters
