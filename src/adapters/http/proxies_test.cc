#include "adapters/http/proxies.h"

#include <map>

#include <doctest/doctest.h>

using namespace agentrt;
using namespace agentrt::adapters;

namespace {

bool through_proxy(const std::string& url, std::map<std::string, std::string> variables) {
  return has_proxy(*parse_url(url), [&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

}  // namespace

TEST_CASE("the proxy of a scheme, or of all") {
  CHECK(!through_proxy("https://a.example/", {}));
  CHECK(!through_proxy("https://a.example/", {{"http_proxy", "http://p"}}));
  CHECK(!through_proxy("http://a.example/", {{"HTTP_PROXY", "http://p"}}));  // a CGI header
  CHECK(through_proxy("http://a.example/", {{"http_proxy", "http://p"}}));
  CHECK(through_proxy("https://a.example/", {{"HTTPS_PROXY", "http://p"}}));
  CHECK(through_proxy("https://a.example/", {{"ALL_PROXY", "http://p"}}));
}

TEST_CASE("exceptions are hosts, domains and everything") {
  const auto with = [](const char* except) {
    return through_proxy("https://tickets.example.com/",
                         {{"https_proxy", "http://p"}, {"no_proxy", except}});
  };
  CHECK(!with("*"));
  CHECK(!with("x.example, tickets.example.com"));
  CHECK(!with(".example.com"));
  CHECK(!with("example.com"));
  CHECK(with("ample.com"));
  CHECK(with("a.tickets.example.com"));
  CHECK(with(""));
}
