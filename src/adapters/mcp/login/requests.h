// adapters/mcp/login/requests.h: the requests of OAuth 2.1 and their answers: registration,
// authorization with PKCE, tokens, revocation. Pure.
//
// Requests hold secrets; they go to the authorization server only. Errors of answers:
// unauthenticated: the grant is no longer valid (invalid_grant); forbidden: any other refusal;
// invalid_params: the answer cannot be used. Their messages are the rest of a sentence that begins
// with the server, and may quote it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/http/fetch.h"
#include "adapters/mcp/login/metadata.h"
#include "base/jwt.h"
#include "base/time.h"
#include "schema/codec.h"

namespace agentrt::adapters {

inline constexpr std::int64_t kOauthRequestMs = 10'000;  // for one complete answer
inline constexpr std::size_t kTokenBytesMax = 32 * 1024;
inline constexpr std::int64_t kTokenLifeMaxS = 10LL * 365 * 24 * 3'600;  // a longer one is cut

// How a client authenticates at the token endpoint; the names are those of the protocol.
BOOST_DEFINE_ENUM_CLASS(ClientAuth, none, client_secret_basic, client_secret_post, private_key_jwt)

struct OauthClient {
  std::string id;
  std::optional<std::string> secret = {};
  ClientAuth auth = ClientAuth::none;
  // Of a client that was registered here: the redirect that it was registered with.
  std::optional<std::string> redirect_uri = {};
  std::optional<Timestamp> expires_at = {};  // of its secret

  bool operator==(const OauthClient&) const = default;
};
BOOST_DESCRIBE_STRUCT(OauthClient, (), (id, secret, auth, redirect_uri, expires_at))

struct OauthTokens {
  std::string access_token;
  std::optional<std::string> refresh_token = {};
  std::optional<Timestamp> expires_at = {};             // absent: the server did not say
  std::optional<std::vector<std::string>> scopes = {};  // absent: those that were requested

  bool operator==(const OauthTokens&) const = default;
};
BOOST_DESCRIBE_STRUCT(OauthTokens, (), (access_token, refresh_token, expires_at, scopes))

// Signs the assertions of private_key_jwt.
struct SigningKey {
  std::string pem;
  JwtAlgorithm algorithm = JwtAlgorithm::es256;
};

// The body of a registration (RFC 7591). `auth`: none, client_secret_basic or client_secret_post.
std::string registration_body(const std::string& redirect_uri, ClientAuth auth);
// How a client without a secret of its own registers. Errors: invalid_params: the server takes none
// of these ways.
Result<ClientAuth> registered_auth(const IssuerMetadata& metadata);
// `asked`: what the registration asked for.
Result<OauthClient> read_registration(const Fetched& answer, const IssuerMetadata& metadata,
                                      ClientAuth asked, const std::string& redirect_uri);

// How a configured client with or without these authenticates. Errors: invalid_params: the server
// does not take it.
Result<ClientAuth> configured_auth(const IssuerMetadata& metadata, bool has_secret, bool has_key);

struct Authorization {
  std::string client_id;
  std::string redirect_uri;
  std::string state;
  std::string verifier;
  std::string resource;
  std::vector<std::string> scopes;  // empty: none are requested
};
std::string authorization_url(const IssuerMetadata& metadata, const Authorization& request);

// What the redirect brought. Errors: as above; forbidden: `state` or `iss` are wrong, or the person
// or the server refused.
Result<std::string> code_in_callback(std::string_view callback_url, const Authorization& request,
                                     const IssuerMetadata& metadata);

// A request to the token endpoint, or to the revocation endpoint, which takes the same form.
// Errors: invalid_params: the client cannot authenticate.
Result<HttpRequest> client_request(const std::string& endpoint, FormFields fields,
                                   const OauthClient& client, const std::string& issuer,
                                   const std::optional<SigningKey>& key, Timestamp now);

FormFields code_fields(const std::string& code, const Authorization& request);
FormFields refresh_fields(const std::string& refresh_token, const std::string& resource);
FormFields credentials_fields(const std::string& resource, const std::vector<std::string>& scopes);

Result<OauthTokens> read_tokens(const Fetched& answer, Timestamp now);

}  // namespace agentrt::adapters
