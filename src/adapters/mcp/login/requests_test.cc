#include "adapters/mcp/login/requests.h"

#include <filesystem>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "adapters/mcp/login/login_files.h"
#include "base/base64.h"
#include "base/digest.h"

using namespace agentrt;
using namespace agentrt::adapters;

namespace {

constexpr Timestamp kNow{1'800'000'000'000};

Fetched answer(std::uint64_t status, std::string body) {
  Fetched out;
  out.head.status = status;
  out.body = std::move(body);
  return out;
}

IssuerMetadata issuer(std::vector<std::string> methods) {
  IssuerMetadata out;
  out.issuer = "https://auth.example.com";
  out.authorization_endpoint = "https://auth.example.com/authorize?tenant=1";
  out.auth_methods = std::move(methods);
  return out;
}

Authorization request() {
  return {.client_id = "me",
          .redirect_uri = "http://127.0.0.1:4000/callback",
          .state = "the-state",
          .verifier = "the-verifier",
          .resource = "https://tickets.example.com/mcp",
          .scopes = {"a", "b"}};
}

}  // namespace

TEST_CASE("the address of the login page") {
  const std::string url = authorization_url(issuer({"none"}), request());
  CHECK(url.starts_with("https://auth.example.com/authorize?tenant=1&"));
  const auto fields = form_decoded(parse_url(url)->query);
  REQUIRE(fields);
  CHECK(*find_field(*fields, "code_challenge_method") == "S256");
  CHECK(*find_field(*fields, "code_challenge") ==
        base64url(bytes_of(sha256(std::string_view("the-verifier")))));
  CHECK(*find_field(*fields, "resource") == "https://tickets.example.com/mcp");
  CHECK(*find_field(*fields, "scope") == "a b");
  CHECK(*find_field(*fields, "redirect_uri") == "http://127.0.0.1:4000/callback");
  CHECK(!url.contains("the-verifier"));
}

TEST_CASE("what the browser brings back") {
  const auto callback = [](std::string_view query, bool promises_iss = false) {
    IssuerMetadata from = issuer({"none"});
    from.promises_iss = promises_iss;
    return code_in_callback(fmt::format("http://127.0.0.1:4000/callback?{}", query), request(),
                            from);
  };
  CHECK(callback("state=the-state&code=x%2Fy") == "x/y");
  CHECK(callback("state=the-state&code=x&iss=https%3A%2F%2Fauth.example.com", true) == "x");
  CHECK(callback("state=the-state&code=x", true).error().code == Code::forbidden);
  CHECK(callback("state=the-state&code=x&iss=https%3A%2F%2Fevil.example").error().code ==
        Code::forbidden);
  CHECK(callback("state=other&code=x").error().message.contains("another state"));
  CHECK(callback("code=x").error().code == Code::forbidden);
  CHECK(callback("state=the-state").error().message.contains("no code"));
  CHECK(callback("state=the-state&error=access_denied&error_description=No").error().message ==
        "the authorization server refused: access_denied (No)");
  CHECK(code_in_callback("not an address", request(), issuer({"none"})).error().code ==
        Code::invalid_params);
}

TEST_CASE("how a client authenticates") {
  CHECK(registered_auth(issuer({"client_secret_post", "none"})) == ClientAuth::none);
  CHECK(registered_auth(issuer({"client_secret_post"})) == ClientAuth::client_secret_post);
  CHECK(!registered_auth(issuer({"private_key_jwt"})));
  CHECK(configured_auth(issuer({"client_secret_post", "client_secret_basic"}), true, false) ==
        ClientAuth::client_secret_basic);
  CHECK(configured_auth(issuer({"none"}), false, false) == ClientAuth::none);
  CHECK(!configured_auth(issuer({"none"}), true, false));
  CHECK(configured_auth(issuer({"private_key_jwt"}), false, true) == ClientAuth::private_key_jwt);
  CHECK(!configured_auth(issuer({"none"}), false, true));
}

TEST_CASE("a registered client") {
  const std::string redirect = "http://127.0.0.1:4000/callback";
  const auto read = [&](std::uint64_t status, std::string body, ClientAuth asked,
                        std::vector<std::string> methods) {
    return read_registration(answer(status, std::move(body)), issuer(std::move(methods)), asked,
                             redirect);
  };
  const auto client = read(201,
                           R"({"client_id":"c","client_secret":"s","client_secret_expires_at":5,)"
                           R"("token_endpoint_auth_method":"client_secret_post"})",
                           ClientAuth::client_secret_basic, {"client_secret_post"});
  REQUIRE(client);
  CHECK(client->auth == ClientAuth::client_secret_post);
  CHECK(client->redirect_uri == redirect);
  CHECK(client->expires_at == Timestamp{5'000});
  CHECK(read(201, R"({"client_id":"c"})", ClientAuth::none, {"none"})->auth == ClientAuth::none);
  CHECK(!read(201, R"({"client_id":"c"})", ClientAuth::client_secret_basic, {}));
  CHECK(!read(201, R"({"client_secret":"s"})", ClientAuth::none, {"none"}));
  CHECK(read(400, R"({"error":"invalid_redirect_uri"})", ClientAuth::none, {"none"})
            .error()
            .message == "refused: invalid_redirect_uri");
  CHECK(read(500, "<html>", ClientAuth::none, {"none"}).error().code == Code::unavailable);
  CHECK(registration_body(redirect, ClientAuth::none).contains(R"("application_type":"native")"));
}

TEST_CASE("the ways in which a request names its client") {
  const auto of = [](ClientAuth auth) {
    return client_request("https://auth.example.com/token", {{"grant_type", "x"}},
                          {"me:1", "s&t", auth}, "https://auth.example.com", std::nullopt, kNow);
  };
  CHECK(of(ClientAuth::none)->body == "grant_type=x&client_id=me%3A1");
  CHECK(of(ClientAuth::client_secret_post)->body ==
        "grant_type=x&client_id=me%3A1&client_secret=s%26t");
  CHECK(of(ClientAuth::client_secret_basic)->headers[0] ==
        "Authorization: Basic " + base64("me%3A1:s%26t"));
  CHECK(of(ClientAuth::client_secret_basic)->body == "grant_type=x");
  CHECK(!of(ClientAuth::private_key_jwt));
}

TEST_CASE("tokens, and refusals") {
  const auto tokens =
      read_tokens(answer(200, R"({"access_token":"a","token_type":"bearer","expires_in":"60",)"
                              R"("refresh_token":"r","scope":"x y"})"),
                  kNow);
  REQUIRE(tokens);
  CHECK(tokens->expires_at == kNow + 60'000);
  CHECK(tokens->refresh_token == "r");
  CHECK(tokens->scopes->size() == 2);
  CHECK(!read_tokens(answer(200, R"({"access_token":"a b","token_type":"Bearer"})"), kNow));
  CHECK(!read_tokens(answer(200, R"({"access_token":"a\r\nX: y","token_type":"Bearer"})"), kNow));
  CHECK(!read_tokens(answer(200, R"({"access_token":"a","token_type":"mac"})"), kNow));
  CHECK(!read_tokens(answer(200, R"({"token_type":"Bearer"})"), kNow));
  CHECK(!read_tokens(answer(200, "[]"), kNow));
  CHECK(read_tokens(answer(400, R"({"error":"invalid_grant"})"), kNow).error().code ==
        Code::unauthenticated);
  CHECK(read_tokens(answer(401, R"({"error":"invalid_client"})"), kNow).error().code ==
        Code::forbidden);
  CHECK(read_tokens(answer(503, ""), kNow).error().code == Code::unavailable);
  const auto huge = read_tokens(
      answer(200, R"({"access_token":"a","token_type":"Bearer","expires_in":9e18})"), kNow);
  CHECK(huge);
}

TEST_CASE("logins are stored one file per server and issuer, for their owner alone") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / "agentrt_login_files_test";
  fs::remove_all(folder);
  const LoginFiles files(folder.string());
  CHECK(files.read().logins.empty());
  StoredLogin login{.server = "https://tickets.example.com/mcp",
                    .issuer = "https://auth.example.com",
                    .resource = "https://tickets.example.com/mcp",
                    .token_endpoint = "https://auth.example.com/token",
                    .client = {"me", "s", ClientAuth::client_secret_basic}};
  login.tokens = OauthTokens{"a", "r", kNow, std::vector<std::string>{"x"}};
  login.requested = {"x"};
  REQUIRE(files.write(login));
  CHECK(files.read().logins == std::vector<StoredLogin>{login});
  login.tokens->access_token = "b";
  REQUIRE(files.write(login));
  CHECK(files.read().logins == std::vector<StoredLogin>{login});
  StoredLogin other = login;
  other.issuer = "https://other.example.com";
  REQUIRE(files.write(other));
  CHECK(files.read().logins.size() == 2);
  for (const auto& entry : fs::directory_iterator(folder)) {
    CHECK((entry.status().permissions() & fs::perms(077)) == fs::perms::none);
    fs::permissions(entry.path(), fs::perms(0640));
    break;
  }
  CHECK(files.read().logins.size() == 1);
  CHECK(files.read().problems.size() == 1);
  REQUIRE(files.remove(login));
  REQUIRE(files.remove(other));
  CHECK(files.read().problems.empty());
  fs::remove_all(folder);
}
