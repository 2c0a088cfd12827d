// runtime/listening.h: what the HTTP server listens on, from the options of the runtime.
#pragma once

#include <string>

#include "channels/http_server.h"
#include "runtime/runtime.h"

namespace agentrt::runtime {

// The address that clients use.
std::string url_of(const Listen& listen, unsigned port);

// Raises the descriptor limit to its maximum, because each stream needs one.
void raise_open_file_limit();

// Certificate and key of the address; nullopt: it serves http. Errors: invalid_params.
Result<std::optional<TlsContext>> tls_context(const Listen& listen, Timestamp now);

channels::HttpOptions http_options(const RuntimeOptions& options);

}  // namespace agentrt::runtime
