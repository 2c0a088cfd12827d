#include "adapters/mcp/login/metadata.h"

#include <algorithm>

#include <fmt/format.h>

#include "adapters/http/public_address.h"
#include "adapters/mcp/login/challenge.h"
#include "adapters/mcp/login/json_object.h"
#include "schema/json.h"

namespace agentrt::adapters {
namespace {

constexpr std::size_t kShownBytesMax = 256;  // of a foreign text in an error
constexpr std::string_view kResourceDocument = "/.well-known/oauth-protected-resource";
constexpr std::string_view kIssuerDocument = "/.well-known/oauth-authorization-server";
constexpr std::string_view kOpenIdDocument = "/.well-known/openid-configuration";

std::string_view shown(std::string_view text) { return schema::utf8_prefix(text, kShownBytesMax); }

std::string_view without_slashes(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return path;
}

// Whether `path` is `prefix` or lies below it.
bool is_within(std::string_view path, std::string_view prefix) {
  prefix = without_slashes(prefix);
  return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

bool same_issuer(std::string_view a, std::string_view b) {
  const auto plain = [](std::string_view text) {
    const auto url = parse_url(text);
    return url && url->path == "/" && !url->has_query ? text.substr(0, text.size() - 1) : text;
  };
  return plain(a) == plain(b);
}

Result<std::string> endpoint_in(const JsonObject& document, std::string_view name,
                                const Place& server) {
  std::string text = document.text(name);
  if (text.empty()) return text;
  TRY(linked_url(text, server, name));
  return text;
}

Result<std::vector<std::string>> scopes_in(const JsonObject& document) {
  auto scopes = document.texts("scopes_supported").value_or(std::vector<std::string>{});
  if (scopes.size() > kScopesMax)
    return fail(Code::invalid_params, fmt::format("names more than {} scopes", kScopesMax));
  return scopes;
}

}  // namespace

Reach reach_of(const sockaddr& address) {
  if (is_public(address)) return Reach::public_;
  return is_loopback(address) ? Reach::loopback : Reach::private_;
}

Reach reach_of_text(const std::string& text) {
  const auto address = address_of(text);
  return address ? reach_of(reinterpret_cast<const sockaddr&>(*address)) : Reach::public_;
}

// Names are checked again when connecting.
Result<Url> linked_url(std::string_view text, const Place& server, std::string_view what) {
  auto url = parse_url(text);
  if (!url || url->has_fragment)
    return fail(Code::invalid_params,
                fmt::format("has no valid URL as {} ({})", what, shown(text)));
  const Reach reach =
      names_loopback(*url) ? Reach::loopback : reach_of_text(std::string(url->bare_host()));
  if (reach == Reach::loopback && server.reach == Reach::loopback) return *std::move(url);
  if (url->scheme != "https")
    return fail(Code::invalid_params,
                fmt::format("has a URL as {} that is not https ({})", what, shown(text)));
  if (reach != Reach::public_ && reach != server.reach)
    return fail(
        Code::invalid_params,
        fmt::format("has a URL as {} at a private or local address ({})", what, shown(text)));
  return *std::move(url);
}

std::string canonical_url(const Url& server) { return server.origin() + server.path; }

std::vector<std::string> resource_metadata_urls(const Url& server) {
  const std::string root = fmt::format("{}{}", server.origin(), kResourceDocument);
  const std::string_view path = without_slashes(server.path);
  if (path.empty()) return {root};
  return {fmt::format("{}{}", root, path), root};
}

Result<ResourceMetadata> read_resource_metadata(std::string_view text, const Url& server) {
  TRY_ASSIGN(const JsonObject document, JsonObject::read(text));
  ResourceMetadata out;
  out.resource = document.text("resource");
  const auto resource = parse_url(out.resource);
  if (!resource || resource->has_fragment || resource->origin() != server.origin() ||
      !is_within(server.path, resource->path))
    return fail(Code::invalid_params,
                fmt::format("is about another resource ({})",
                            out.resource.empty() ? "none is named" : shown(out.resource)));
  out.issuers = document.texts("authorization_servers").value_or(std::vector<std::string>{});
  if (out.issuers.empty()) return fail(Code::invalid_params, "names no authorization server");
  if (out.issuers.size() > kNamedServersMax)
    return fail(Code::invalid_params,
                fmt::format("names more than {} authorization servers", kNamedServersMax));
  if (document.texts("scopes_supported")) {
    TRY_ASSIGN(out.scopes, scopes_in(document));
  }
  return out;
}

std::vector<std::string> issuer_metadata_urls(const Url& issuer) {
  const std::string origin = issuer.origin();
  const std::string_view path = without_slashes(issuer.path);
  std::vector<std::string> out = {fmt::format("{}{}{}", origin, kIssuerDocument, path),
                                  fmt::format("{}{}{}", origin, kOpenIdDocument, path)};
  if (!path.empty()) out.push_back(fmt::format("{}{}{}", origin, path, kOpenIdDocument));
  return out;
}

std::string older_metadata_url(const Url& server) {
  return fmt::format("{}{}", server.origin(), kIssuerDocument);
}

bool IssuerMetadata::takes(std::string_view method) const {
  // Without a list, RFC 8414 assumes client_secret_basic.
  if (!auth_methods) return method == "client_secret_basic";
  return std::ranges::find(*auth_methods, method) != auth_methods->end();
}

Result<IssuerMetadata> read_issuer_metadata(std::string_view text, const Place& server) {
  TRY_ASSIGN(const JsonObject document, JsonObject::read(text));
  IssuerMetadata out;
  out.issuer = document.text("issuer");
  TRY(linked_url(out.issuer, server, "issuer"));
  TRY_ASSIGN(out.authorization_endpoint, endpoint_in(document, "authorization_endpoint", server));
  TRY_ASSIGN(out.token_endpoint, endpoint_in(document, "token_endpoint", server));
  TRY_ASSIGN(out.registration_endpoint, endpoint_in(document, "registration_endpoint", server));
  TRY_ASSIGN(out.revocation_endpoint, endpoint_in(document, "revocation_endpoint", server));
  if (out.token_endpoint.empty()) return fail(Code::invalid_params, "names no token_endpoint");
  out.auth_methods = document.texts("token_endpoint_auth_methods_supported");
  TRY_ASSIGN(out.scopes, scopes_in(document));
  out.takes_document_ids = document.is_true("client_id_metadata_document_supported");
  out.promises_iss = document.is_true("authorization_response_iss_parameter_supported");
  const auto methods =
      document.texts("code_challenge_methods_supported").value_or(std::vector<std::string>{});
  out.has_s256 = std::ranges::find(methods, "S256") != methods.end();
  return out;
}

Result<void> check_issuer(const IssuerMetadata& metadata, std::string_view looked_up) {
  if (same_issuer(metadata.issuer, looked_up)) return {};
  return fail(Code::invalid_params, fmt::format("names the issuer {} instead of {}",
                                                shown(metadata.issuer), shown(looked_up)));
}

IssuerMetadata usual_endpoints(const Url& server) {
  const std::string origin = server.origin();
  IssuerMetadata out;
  out.issuer = origin;
  out.authorization_endpoint = origin + "/authorize";
  out.token_endpoint = origin + "/token";
  out.registration_endpoint = origin + "/register";
  out.auth_methods = {"none", "client_secret_basic", "client_secret_post"};
  out.has_s256 = true;  // OAuth 2.1 demands it
  return out;
}

}  // namespace agentrt::adapters
