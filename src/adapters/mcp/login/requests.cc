#include "adapters/mcp/login/requests.h"

#include <algorithm>

#include <fmt/format.h>

#include "adapters/mcp/login/challenge.h"
#include "adapters/mcp/login/json_object.h"
#include "base/base64.h"
#include "base/digest.h"
#include "base/random_bytes.h"
#include "schema/json.h"

namespace agentrt::adapters {
namespace {

constexpr std::size_t kShownBytesMax = 512;  // of a foreign text in an error
constexpr std::int64_t kAssertionLifeS = 300;
constexpr std::uint64_t kOk = 200, kCreated = 201;

std::string json_text(std::string_view text) {
  std::string out;
  schema::write_string(out, text);
  return out;
}

// The error of RFC 6749 in an answer or a redirect, as the rest of a sentence.
std::string refusal(std::string_view error, std::string_view description) {
  std::string out = fmt::format("refused: {}", schema::utf8_prefix(error, kShownBytesMax));
  if (!description.empty())
    out += fmt::format(" ({})", schema::utf8_prefix(description, kShownBytesMax));
  return out;
}

std::unexpected<Error> refused(const Fetched& answer) {
  const auto document = JsonObject::read(answer.body);
  const std::string error = document ? document->text("error") : "";
  if (error.empty()) {
    const bool passing = answer.head.status >= 500 || answer.head.status == 429;
    return fail(passing ? Code::unavailable : Code::forbidden,
                fmt::format("answered with HTTP status {}", answer.head.status));
  }
  return fail(error == "invalid_grant" ? Code::unauthenticated : Code::forbidden,
              refusal(error, document->text("error_description")));
}

// A token is sent in a header field.
bool is_sendable(std::string_view text) {
  return !text.empty() && text.size() <= kTokenBytesMax &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

std::optional<ClientAuth> auth_named(std::string_view name) {
  return schema::enum_of<ClientAuth>(name);
}

std::string assertion_claims(const OauthClient& client, const std::string& issuer, Timestamp now) {
  const std::int64_t seconds = now.ms / 1'000;
  return fmt::format(R"({{"iss":{0},"sub":{0},"aud":{1},"jti":"{2}","iat":{3},"exp":{4}}})",
                     json_text(client.id), json_text(issuer), base64url(random_bytes(16)), seconds,
                     seconds + kAssertionLifeS);
}

}  // namespace

std::string registration_body(const std::string& redirect_uri, ClientAuth auth) {
  return fmt::format(
      R"({{"client_name":"agentrt","application_type":"native","redirect_uris":[{}],)"
      R"("grant_types":["authorization_code","refresh_token"],"response_types":["code"],)"
      R"("token_endpoint_auth_method":"{}"}})",
      json_text(redirect_uri), schema::name_of(auth));
}

Result<ClientAuth> registered_auth(const IssuerMetadata& metadata) {
  for (const ClientAuth auth :
       {ClientAuth::none, ClientAuth::client_secret_basic, ClientAuth::client_secret_post})
    if (metadata.takes(schema::name_of(auth))) return auth;
  return fail(Code::invalid_params,
              "takes no client that registers itself; set client_id, and client_secret_env or "
              "private_key_file, in the oauth section of the server");
}

Result<OauthClient> read_registration(const Fetched& answer, const IssuerMetadata& metadata,
                                      ClientAuth asked, const std::string& redirect_uri) {
  if (answer.head.status != kCreated && answer.head.status != kOk) return refused(answer);
  TRY_ASSIGN(const JsonObject document, JsonObject::read(answer.body));
  OauthClient out;
  out.id = document.text("client_id");
  if (out.id.empty()) return fail(Code::invalid_params, "registered a client without client_id");
  out.redirect_uri = redirect_uri;
  if (std::string secret = document.text("client_secret"); !secret.empty())
    out.secret = std::move(secret);
  const auto named = auth_named(document.text("token_endpoint_auth_method"));
  out.auth = named.value_or(asked);
  if (!named && out.auth == ClientAuth::none && out.secret && !metadata.takes("none"))
    out.auth = ClientAuth::client_secret_basic;
  if (out.auth == ClientAuth::private_key_jwt || (out.auth != ClientAuth::none && !out.secret))
    return fail(Code::invalid_params, "registered a client that cannot authenticate");
  const std::int64_t expires = document.number("client_secret_expires_at").value_or(0);
  if (out.secret && expires > 0) out.expires_at = Timestamp{expires * 1'000};
  return out;
}

Result<ClientAuth> configured_auth(const IssuerMetadata& metadata, bool has_secret, bool has_key) {
  if (has_key) {
    if (!metadata.auth_methods || metadata.takes("private_key_jwt"))
      return ClientAuth::private_key_jwt;
    return fail(Code::invalid_params,
                "does not take signed assertions; set client_secret_env instead of "
                "private_key_file");
  }
  if (!has_secret) return ClientAuth::none;
  for (const ClientAuth auth : {ClientAuth::client_secret_basic, ClientAuth::client_secret_post})
    if (metadata.takes(schema::name_of(auth))) return auth;
  return fail(Code::invalid_params, "does not take a client secret; set private_key_file");
}

std::string authorization_url(const IssuerMetadata& metadata, const Authorization& request) {
  FormFields fields = {{"response_type", "code"},
                       {"client_id", request.client_id},
                       {"redirect_uri", request.redirect_uri},
                       {"state", request.state},
                       {"code_challenge", base64url(bytes_of(sha256(request.verifier)))},
                       {"code_challenge_method", "S256"},
                       {"resource", request.resource}};
  if (!request.scopes.empty()) fields.emplace_back("scope", joined_scopes(request.scopes));
  // A refresh token is promised for this scope only if the person is asked.
  if (std::ranges::find(request.scopes, "offline_access") != request.scopes.end())
    fields.emplace_back("prompt", "consent");
  const auto url = parse_url(metadata.authorization_endpoint);
  return fmt::format("{}{}{}", metadata.authorization_endpoint, url && url->has_query ? "&" : "?",
                     form_encoded(fields));
}

Result<std::string> code_in_callback(std::string_view callback_url, const Authorization& request,
                                     const IssuerMetadata& metadata) {
  const auto url = parse_url(callback_url);
  const auto fields = url ? form_decoded(url->query) : std::nullopt;
  if (!fields)
    return fail(Code::invalid_params,
                "this is not the address that the browser was sent to; paste it whole, from http "
                "to its end");
  const auto value = [&](std::string_view name) {
    const std::string* const found = find_field(*fields, name);
    return found ? *found : std::string();
  };
  if (!equal_in_constant_time(value("state"), request.state))
    return fail(Code::forbidden,
                "the address has another state than this login, so it is not used; log in again");
  const std::string* const issuer = find_field(*fields, "iss");
  if ((issuer == nullptr && metadata.promises_iss) ||
      (issuer != nullptr && *issuer != metadata.issuer))
    return fail(Code::forbidden,
                "the answer is not from the authorization server of this login (iss), so it is not "
                "used; log in again");
  if (const std::string error = value("error"); !error.empty())
    return fail(Code::forbidden, fmt::format("the authorization server {}",
                                             refusal(error, value("error_description"))));
  std::string code = value("code");
  if (code.empty()) return fail(Code::forbidden, "the address contains no code; log in again");
  return code;
}

Result<HttpRequest> client_request(const std::string& endpoint, FormFields fields,
                                   const OauthClient& client, const std::string& issuer,
                                   const std::optional<SigningKey>& key, Timestamp now) {
  HttpRequest out;
  out.url = endpoint;
  if (client.auth == ClientAuth::client_secret_basic) {
    const std::string pair =
        percent_encoded(client.id) + ":" + percent_encoded(client.secret.value_or(""));
    out.headers.push_back("Authorization: Basic " + base64(pair));
  } else {
    fields.emplace_back("client_id", client.id);
  }
  if (client.auth == ClientAuth::client_secret_post)
    fields.emplace_back("client_secret", client.secret.value_or(""));
  if (client.auth == ClientAuth::private_key_jwt) {
    if (!key)
      return fail(Code::invalid_params, "needs private_key_file, which is no longer configured");
    TRY_ASSIGN(std::string assertion,
               signed_jwt(assertion_claims(client, issuer, now), key->pem, key->algorithm));
    fields.emplace_back("client_assertion_type",
                        "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    fields.emplace_back("client_assertion", std::move(assertion));
  }
  out.headers.emplace_back("Content-Type: application/x-www-form-urlencoded");
  out.headers.emplace_back("Accept: application/json");
  out.body = form_encoded(fields);
  return out;
}

FormFields code_fields(const std::string& code, const Authorization& request) {
  return {{"grant_type", "authorization_code"},
          {"code", code},
          {"redirect_uri", request.redirect_uri},
          {"code_verifier", request.verifier},
          {"resource", request.resource}};
}

FormFields refresh_fields(const std::string& refresh_token, const std::string& resource) {
  return {
      {"grant_type", "refresh_token"}, {"refresh_token", refresh_token}, {"resource", resource}};
}

FormFields credentials_fields(const std::string& resource, const std::vector<std::string>& scopes) {
  FormFields out = {{"grant_type", "client_credentials"}, {"resource", resource}};
  if (!scopes.empty()) out.emplace_back("scope", joined_scopes(scopes));
  return out;
}

Result<OauthTokens> read_tokens(const Fetched& answer, Timestamp now) {
  if (answer.head.status != kOk) return refused(answer);
  TRY_ASSIGN(const JsonObject document, JsonObject::read(answer.body));
  OauthTokens out;
  out.access_token = document.text("access_token");
  if (!is_sendable(out.access_token))
    return fail(Code::invalid_params, "sent no usable access token");
  std::string type = document.text("token_type");
  std::ranges::transform(type, type.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  });
  if (type != "bearer")
    return fail(Code::invalid_params, "sent a token of a type other than Bearer");
  if (std::string refresh = document.text("refresh_token"); !refresh.empty()) {
    if (!is_sendable(refresh)) return fail(Code::invalid_params, "sent no usable refresh token");
    out.refresh_token = std::move(refresh);
  }
  if (const auto seconds = document.number("expires_in"))
    out.expires_at = now + std::clamp<std::int64_t>(*seconds, 0, kTokenLifeMaxS) * 1'000;
  if (const std::string scope = document.text("scope"); !scope.empty()) {
    TRY_ASSIGN(out.scopes, read_scopes(scope));
  }
  return out;
}

}  // namespace agentrt::adapters
