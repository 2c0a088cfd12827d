#include "adapters/mcp/login/metadata.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace agentrt;
using namespace agentrt::adapters;

namespace {

const Place kServer = {*parse_url("https://tickets.example.com/mcp/v1"), Reach::public_};
const Place kLocal = {*parse_url("http://localhost:4000/mcp"), Reach::loopback};
const Place kPrivate = {*parse_url("https://intranet.example/mcp"), Reach::private_};

std::string problem(const auto& result) { return result ? std::string() : result.error().message; }

std::string resource(std::string_view of) {
  return fmt::format(R"({{"resource":"{}","authorization_servers":["https://auth.example.com"]}})",
                     of);
}

std::string issuer(std::string_view members) {
  return fmt::format(R"({{"issuer":"https://auth.example.com",)"
                     R"("token_endpoint":"https://auth.example.com/token"{}}})",
                     members);
}

}  // namespace

TEST_CASE("where the metadata of a server may be") {
  CHECK(resource_metadata_urls(kServer.url) ==
        std::vector<std::string>{
            "https://tickets.example.com/.well-known/oauth-protected-resource/mcp/v1",
            "https://tickets.example.com/.well-known/oauth-protected-resource"});
  CHECK(resource_metadata_urls(*parse_url("https://a.example/")) ==
        std::vector<std::string>{"https://a.example/.well-known/oauth-protected-resource"});
}

TEST_CASE("where the metadata of an authorization server may be") {
  CHECK(issuer_metadata_urls(*parse_url("https://auth.example.com/tenant1")) ==
        std::vector<std::string>{
            "https://auth.example.com/.well-known/oauth-authorization-server/tenant1",
            "https://auth.example.com/.well-known/openid-configuration/tenant1",
            "https://auth.example.com/tenant1/.well-known/openid-configuration"});
  CHECK(issuer_metadata_urls(*parse_url("https://auth.example.com/")) ==
        std::vector<std::string>{"https://auth.example.com/.well-known/oauth-authorization-server",
                                 "https://auth.example.com/.well-known/openid-configuration"});
}

TEST_CASE("the resource has the server's origin and a prefix of its path") {
  for (const char* good :
       {"https://tickets.example.com", "https://tickets.example.com/",
        "https://tickets.example.com/mcp", "https://tickets.example.com/mcp/",
        "https://tickets.example.com/mcp/v1", "https://TICKETS.example.com:443/mcp/v1"})
    CHECK_MESSAGE(read_resource_metadata(resource(good), kServer.url), good);
  for (const char* bad :
       {"", "https://evil.example.com/mcp", "http://tickets.example.com/mcp",
        "https://tickets.example.com:444/mcp", "https://tickets.example.com/mcp/v1/x",
        "https://tickets.example.com/mc", "https://tickets.example.com/mcp/v",
        "https://tickets.example.com/mcp#x", "tickets.example.com"})
    CHECK_MESSAGE(problem(read_resource_metadata(resource(bad), kServer.url))
                      .starts_with("is about another resource"),
                  bad);
}

TEST_CASE("resource metadata of the wrong form") {
  CHECK(problem(read_resource_metadata("[]", kServer.url)) == "is not a JSON object");
  CHECK(problem(read_resource_metadata("{", kServer.url)) == "is not a JSON object");
  CHECK(problem(read_resource_metadata(R"({"resource":"https://tickets.example.com/mcp"})",
                                       kServer.url)) == "names no authorization server");
  CHECK(problem(read_resource_metadata(std::string(2'000, '[') + std::string(2'000, ']'),
                                       kServer.url)) == "is not a JSON object");
}

TEST_CASE("linked URLs are https, or on loopback with the server") {
  CHECK(linked_url("https://auth.example.com/x", kServer, "issuer"));
  CHECK(linked_url("http://127.0.0.1:9/x", kLocal, "issuer"));
  CHECK(linked_url("https://auth.example.com", kLocal, "issuer"));
  CHECK(problem(linked_url("http://auth.example.com/x", kServer, "issuer")) ==
        "has a URL as issuer that is not https (http://auth.example.com/x)");
  CHECK(problem(linked_url("http://localhost/x", kServer, "token_endpoint")) ==
        "has a URL as token_endpoint that is not https (http://localhost/x)");
  CHECK(problem(linked_url("https://localhost/x", kServer, "token_endpoint")) ==
        "has a URL as token_endpoint at a private or local address (https://localhost/x)");
  for (const char* bad : {"https://10.1.2.3/", "https://169.254.169.254/latest", "https://[::1]/",
                          "https://[::ffff:127.0.0.1]/", "https://[fe80::1]/"})
    CHECK_MESSAGE(!linked_url(bad, kServer, "issuer"), bad);
  CHECK(linked_url("https://10.1.2.3/", kPrivate, "issuer"));
  CHECK(!linked_url("https://127.0.0.1/", kPrivate, "issuer"));
  CHECK(!linked_url("https://10.1.2.3/", kLocal, "issuer"));
  for (const char* bad : {"javascript:alert(1)", "file:///etc/passwd", "//auth.example.com", "",
                          "https://auth.example.com/#x"})
    CHECK_MESSAGE(!linked_url(bad, kServer, "issuer"), bad);
}

TEST_CASE("metadata of an authorization server") {
  const auto read = read_issuer_metadata(
      issuer(R"(,"authorization_endpoint":"https://auth.example.com/authorize",)"
             R"("code_challenge_methods_supported":["plain","S256"],)"
             R"("token_endpoint_auth_methods_supported":["none"],)"
             R"("scopes_supported":["a","offline_access"],)"
             R"("client_id_metadata_document_supported":true,)"
             R"("authorization_response_iss_parameter_supported":true)"),
      kServer);
  REQUIRE(read);
  CHECK(read->has_s256);
  CHECK(read->takes("none"));
  CHECK(!read->takes("client_secret_basic"));
  CHECK(read->takes_document_ids);
  CHECK(read->promises_iss);
  CHECK(read->scopes.size() == 2);
  CHECK(check_issuer(*read, "https://auth.example.com"));
  CHECK(check_issuer(*read, "https://auth.example.com/"));
  CHECK(problem(check_issuer(*read, "https://auth.example.com/tenant")) ==
        "names the issuer https://auth.example.com instead of https://auth.example.com/tenant");
}

TEST_CASE("metadata that promises nothing") {
  const auto read = read_issuer_metadata(issuer(""), kServer);
  REQUIRE(read);
  CHECK(!read->has_s256);
  CHECK(read->takes("client_secret_basic"));  // the default of RFC 8414
  CHECK(!read->takes("none"));
  CHECK(problem(read_issuer_metadata(R"({"issuer":"https://auth.example.com"})", kServer)) ==
        "names no token_endpoint");
  CHECK(problem(read_issuer_metadata(issuer(R"(,"registration_endpoint":"http://x.example/")"),
                                     kServer)) ==
        "has a URL as registration_endpoint that is not https (http://x.example/)");
  CHECK(!read_issuer_metadata("{}", kServer));
}

TEST_CASE("a server without metadata has the endpoints of 2025-03-26") {
  const IssuerMetadata usual = usual_endpoints(kServer.url);
  CHECK(usual.issuer == "https://tickets.example.com");
  CHECK(usual.authorization_endpoint == "https://tickets.example.com/authorize");
  CHECK(usual.registration_endpoint == "https://tickets.example.com/register");
}
