#include "runtime/listening.h"

#include <sys/resource.h>

#include <algorithm>

#include <fmt/format.h>

#include "runtime/data_folder.h"

namespace agentrt::runtime {

std::string url_of(const Listen& listen, unsigned port) {
  const bool bare_ipv6 = listen.address.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}", listen.tls_cert ? "https" : "http", bare_ipv6 ? "[" : "",
                     listen.address, bare_ipv6 ? "]" : "", port);
}

Result<std::optional<TlsContext>> tls_context(const Listen& listen, Timestamp now) {
  if (!listen.tls_cert && !listen.tls_key) return std::nullopt;
  if (!listen.tls_cert || !listen.tls_key)
    return fail(Code::invalid_params,
                "TLS needs a certificate and a key; set both tls_cert and tls_key.");
  return TlsContext::server(*listen.tls_cert, *listen.tls_key, now);
}

void raise_open_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

namespace {

// Connections get at most half of the descriptors: the store, files and processes need the rest.
std::size_t connections_of_descriptors(std::size_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
  return std::min<std::size_t>(wanted, limit.rlim_cur / 2);
}

}  // namespace

channels::HttpOptions http_options(const RuntimeOptions& options) {
  channels::HttpOptions http;
  http.socket_path = socket_path(options.data);
  http.limits.connections_max = connections_of_descriptors(http.limits.connections_max);
  const config::ChannelConfig& channels = options.config.channels;
  http.limits.channels.per_connection = channels.per_connection;
  http.limits.channels.message_bytes = channels.message_bytes;
  http.limits.channels.calls_in_flight = channels.calls_in_flight;
  http.limits.channels.ping = channels::Duration(channels.ping_ms);
  http.origins = options.config.server.origins;
  if (options.listen) {
    http.tcp = channels::HttpAddress{options.listen->address, options.listen->port};
    http.host_names = options.listen->host_names;
  }
  return http;
}

}  // namespace agentrt::runtime
