// adapters/http/proxies.h: whether the usual environment variables name a proxy for a server.
//
// A proxy resolves the name of the server itself, so the address of the server cannot be checked
// here.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/url.h"

namespace agentrt::adapters {

// The value of an environment variable.
using Variables = std::function<std::optional<std::string>(const char* name)>;

// As libcurl decides it: http_proxy, https_proxy, HTTPS_PROXY, all_proxy, ALL_PROXY; and no_proxy,
// NO_PROXY.
bool has_proxy(const Url& url, const Variables& variables);
// With the variables of this process.
bool has_proxy(const Url& url);

}  // namespace agentrt::adapters
