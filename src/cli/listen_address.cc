#include "cli/listen_address.h"

#include <arpa/inet.h>

#include <charconv>

#include <fmt/format.h>

namespace agentrt::cli {
namespace {

std::unexpected<Error> wrong(const std::string& text) {
  return fail(
      Code::invalid_params,
      fmt::format("--listen {} is not ADDR:PORT; write for example 127.0.0.1:7717 or [::1]:7717.",
                  text));
}

enum class Reach { loopback, remote };

std::optional<Reach> reach_of(const std::string& address) {
  in_addr four{};
  if (::inet_pton(AF_INET, address.c_str(), &four) == 1)
    return (ntohl(four.s_addr) >> 24) == 127 ? Reach::loopback : Reach::remote;
  in6_addr six{};
  if (::inet_pton(AF_INET6, address.c_str(), &six) == 1)
    return IN6_IS_ADDR_LOOPBACK(&six) ? Reach::loopback : Reach::remote;
  return std::nullopt;
}

}  // namespace

Result<runtime::Listen> read_listen(const ServeArguments& arguments,
                                    const config::ServerConfig& config) {
  const std::string text = arguments.listen.value_or(config.listen.value_or("127.0.0.1:7717"));
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return wrong(text);
  std::string address = text.substr(0, colon);
  const bool bracketed = address.starts_with('[') && address.ends_with(']');
  if (bracketed) address = address.substr(1, address.size() - 2);
  if (!bracketed && address.find(':') != std::string::npos) return wrong(text);
  if (address == "localhost") address = "127.0.0.1";
  const std::optional<Reach> reach = reach_of(address);
  if (!reach) return wrong(text);

  runtime::Listen listen;
  const char* begin = text.data() + colon + 1;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(begin, end, listen.port);
  if (error != std::errc() || stop != end) return wrong(text);
  listen.tls_cert = arguments.tls_cert ? arguments.tls_cert : config.tls_cert;
  listen.tls_key = arguments.tls_key ? arguments.tls_key : config.tls_key;
  if (listen.tls_cert.has_value() != listen.tls_key.has_value())
    return fail(Code::invalid_params,
                fmt::format("TLS needs a certificate and its key; {} is missing.",
                            listen.tls_cert ? "--tls-key" : "--tls-cert"));
  const bool safe = listen.tls_cert || arguments.behind_proxy;
  if (*reach == Reach::remote && !(arguments.allow_remote && safe))
    return fail(Code::invalid_params,
                fmt::format("{} can be reached from other machines; add --allow-remote with "
                            "--tls-cert and --tls-key (or with --behind-proxy, if a proxy in front "
                            "does TLS), or listen on 127.0.0.1.",
                            address));
  listen.address = address;
  listen.host_names = config.host_names;
  listen.host_names.insert(listen.host_names.end(), arguments.hosts.begin(), arguments.hosts.end());
  listen.allow_remote = arguments.allow_remote;
  listen.behind_proxy = arguments.behind_proxy;
  return listen;
}

}  // namespace agentrt::cli
