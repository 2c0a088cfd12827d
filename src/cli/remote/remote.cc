#include "cli/remote/remote.h"

#include <arpa/inet.h>

#include <fstream>

#include <fmt/format.h>

#include "cli/context.h"

namespace agentrt::cli {
namespace {

// Commands that concern this machine: its daemon, its sandbox, its files.
template <class... Local>
bool is_one_of(const Verb& verb) {
  return (std::holds_alternative<Local>(verb) || ...);
}

bool is_local(const Verb& verb) {
  return is_one_of<ServeArguments, OwnArguments, StopArguments, SchemaArguments, DoctorArguments,
                   ValidateArguments, SandboxArguments, TrustArguments, DemoArguments>(verb);
}

bool is_loopback(const std::string& host) {
  in_addr four{};
  in6_addr six{};
  if (::inet_pton(AF_INET, host.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
  if (::inet_pton(AF_INET6, host.c_str(), &six) == 1) return IN6_IS_ADDR_LOOPBACK(&six);
  return host == "localhost";
}

Result<std::string> token_in(const std::string& path) {
  std::ifstream file(path);
  std::string token;
  if (!file || !std::getline(file, token) || token.empty())
    return fail(Code::invalid_params,
                fmt::format("The token file {} cannot be read; give a file with the token in its "
                            "first line.",
                            path));
  while (token.ends_with('\r') || token.ends_with(' ')) token.pop_back();
  return token;
}

Result<std::string> find_token(const Context& context, const config::RemoteConfig& remote) {
  const Arguments& arguments = context.arguments;
  if (arguments.token_file) return token_in(*arguments.token_file);
  if (auto token = context.environment("AGENTRT_TOKEN"); token && !token->empty()) return *token;
  if (remote.token_env)
    if (auto token = context.environment(*remote.token_env); token && !token->empty())
      return *token;
  return fail(
      Code::invalid_params,
      fmt::format("There is no token for {}; use --token-file or AGENTRT_TOKEN.", remote.url));
}

// What --remote means: a URL, or the name of a [remotes.NAME].
Result<config::RemoteConfig> find_remote(Context& context) {
  const std::string& given = *context.arguments.remote;
  if (given.contains("://")) {
    config::RemoteConfig remote;
    remote.url = given;
    return remote;
  }
  TRY_ASSIGN(const config::Config config, config_of(context, ""));
  if (const auto found = config.remotes.find(given); found != config.remotes.end())
    return found->second;
  std::string names;
  for (const auto& [name, remote] : config.remotes) names += (names.empty() ? "" : ", ") + name;
  return fail(Code::invalid_params,
              fmt::format("There is no [remotes.{}] in the configuration; {}.", given,
                          names.empty() ? "give a URL such as https://HOST:7717, or configure one"
                                        : "configured: " + names));
}

}  // namespace

bool is_remote(const Context& context) { return context.arguments.remote.has_value(); }

Result<void> check_remote_use(const Context& context) {
  const Arguments& arguments = context.arguments;
  if (!arguments.remote) {
    if (arguments.token_file || arguments.ca_file)
      return fail(Code::invalid_params,
                  fmt::format("{} needs --remote URL|NAME.",
                              arguments.token_file ? "--token-file" : "--ca-file"));
    return {};
  }
  if (is_local(arguments.verb))
    return fail(Code::invalid_params,
                "This command works on this machine only; drop --remote, or run it there.");
  if (arguments.data)
    return fail(
        Code::invalid_params,
        "--data names a folder of this machine, and --remote another one; drop one of them.");
  if (arguments.config)
    return fail(Code::invalid_params,
                "--config configures a runtime of this machine; drop it, or drop --remote.");
  return {};
}

Result<RemoteTarget> read_remote(Context& context) {
  TRY_ASSIGN(const config::RemoteConfig remote, find_remote(context));
  TRY_ASSIGN(Url url, parse_url(remote.url));
  if (url.target != "/")
    return fail(Code::invalid_params,
                "--remote names the whole runtime: give a URL without a path, such as "
                "https://HOST:7717.");
  if (!url.https && !is_loopback(url.endpoint.host))
    return fail(Code::invalid_params,
                fmt::format("Use https for {}: over http the token would travel unencrypted.",
                            url.endpoint.host));
  RemoteTarget target;
  TRY_ASSIGN(target.token, find_token(context, remote));
  const auto& ca_file = context.arguments.ca_file ? context.arguments.ca_file : remote.ca_file;
  if (url.https) {
    TRY_ASSIGN(url.endpoint.tls, TlsContext::client(ca_file));
  }
  target.endpoint = std::move(url.endpoint);
  target.where = remote.url;
  return target;
}

}  // namespace agentrt::cli
