#include "adapters/http/proxies.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

namespace agentrt::adapters {
namespace {

std::string first_of(const Variables& variables, std::initializer_list<const char*> names) {
  for (const char* const name : names)
    if (auto value = variables(name); value && !value->empty()) return *std::move(value);
  return {};
}

// An entry is *, a host, or a domain with or without its leading dot.
bool excepts(std::string_view entry, std::string_view host) {
  if (entry == "*") return true;
  while (entry.starts_with('.')) entry.remove_prefix(1);
  if (entry.empty() || !host.ends_with(entry)) return false;
  return host.size() == entry.size() || host[host.size() - entry.size() - 1] == '.';
}

}  // namespace

bool has_proxy(const Url& url, const Variables& variables) {
  const std::string proxy =
      url.scheme == "https"
          ? first_of(variables, {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
          : first_of(variables, {"http_proxy", "all_proxy", "ALL_PROXY"});
  if (proxy.empty()) return false;
  const std::string except = first_of(variables, {"no_proxy", "NO_PROXY"});
  std::string_view rest = except;
  while (!rest.empty()) {
    const std::size_t begin = rest.find_first_not_of(", \t");
    if (begin == rest.npos) break;
    rest.remove_prefix(begin);
    const std::string_view entry = rest.substr(0, rest.find_first_of(", \t"));
    rest.remove_prefix(entry.size());
    if (excepts(entry, url.bare_host())) return false;
  }
  return true;
}

bool has_proxy(const Url& url) {
  return has_proxy(url, [](const char* name) -> std::optional<std::string> {
    const char* const value = std::getenv(name);
    return value ? std::optional<std::string>(value) : std::nullopt;
  });
}

}  // namespace agentrt::adapters
