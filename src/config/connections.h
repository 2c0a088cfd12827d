// config/connections.h: how clients reach this runtime ([server], [channels]), and how it reaches
// others ([remotes.NAME], [mcp], [mcp_servers.NAME.oauth]). A workspace file may set only the last.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "schema/codec.h"

namespace agentrt::config {

// What `agentrt serve` listens on; its flags override it.
struct ServerConfig {
  std::optional<std::string> listen;    // ADDR:PORT
  std::optional<std::string> tls_cert;  // PEM files; both or none
  std::optional<std::string> tls_key;
  std::vector<std::string> host_names;  // accepted in Host
  std::vector<std::string> origins;     // of other sites whose pages may call

  bool operator==(const ServerConfig&) const = default;
};

// Limits of channels and of connections that stay open.
struct ChannelConfig {
  std::uint64_t per_session = 64;
  std::uint64_t per_connection = 256;
  std::uint64_t message_bytes = std::uint64_t{4} << 20;
  std::uint64_t calls_in_flight = 64;
  std::uint64_t resumes_per_minute = 30;
  std::uint64_t ping_ms = 20'000;
  std::uint64_t expire_days = 7;

  bool operator==(const ChannelConfig&) const = default;
};

BOOST_DEFINE_ENUM_CLASS(OauthGrant, authorization_code, client_credentials)

// [mcp_servers.NAME.oauth]: how to log in to a server that requires it.
struct McpOauthConfig {
  bool enabled = true;
  std::vector<std::string> scopes;
  std::optional<std::string> client_id;
  std::optional<std::string> client_secret_env;  // name of the variable that holds the secret
  OauthGrant grant = OauthGrant::authorization_code;
  std::optional<std::string> private_key_file;
  std::optional<std::string> signing_algorithm;     // ES256 or RS256
  std::optional<std::string> authorization_server;  // the only issuer that is accepted
  std::uint64_t redirect_port = 0;                  // 0: any

  bool operator==(const McpOauthConfig&) const = default;
};

// [mcp]
struct McpConfig {
  std::optional<std::string> client_metadata_url;  // of a document that the operator hosts

  bool operator==(const McpConfig&) const = default;
};

// A runtime on another machine, for --remote NAME.
struct RemoteConfig {
  std::string url;
  std::optional<std::string> token_env;  // name of the variable that holds the token
  std::optional<std::string> ca_file;

  bool operator==(const RemoteConfig&) const = default;
};

// A limit of [channels] with the values that it may have.
struct ChannelLimit {
  const char* key;
  std::uint64_t ChannelConfig::* member;
  std::uint64_t least;
  std::uint64_t most;
};
inline constexpr ChannelLimit kChannelLimits[] = {
    {"per_session", &ChannelConfig::per_session, 1, 1'000},
    {"per_connection", &ChannelConfig::per_connection, 1, 10'000},
    {"message_bytes", &ChannelConfig::message_bytes, 1'024, std::uint64_t{64} << 20},
    {"calls_in_flight", &ChannelConfig::calls_in_flight, 1, 10'000},
    {"resumes_per_minute", &ChannelConfig::resumes_per_minute, 1, 100'000},
    {"ping_ms", &ChannelConfig::ping_ms, 100, 600'000},
    {"expire_days", &ChannelConfig::expire_days, 1, 3'650},
};

}  // namespace agentrt::config
