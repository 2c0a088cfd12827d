#include "base/jwt.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <doctest/doctest.h>

#include "base/base64.h"

using namespace agentrt;

namespace {

// A fresh key on the curve P-256, in PEM.
std::string fresh_key() {
  EVP_PKEY* const key = EVP_EC_gen("P-256");
  BIO* const bytes = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(bytes, key, nullptr, nullptr, 0, nullptr, nullptr);
  char* text = nullptr;
  const long size = BIO_get_mem_data(bytes, &text);
  std::string out(text, static_cast<std::size_t>(size));
  BIO_free_all(bytes);
  EVP_PKEY_free(key);
  return out;
}

}  // namespace

TEST_CASE("a token has a header, its claims and a signature of fixed size") {
  const auto token = signed_jwt(R"({"iss":"me"})", fresh_key(), JwtAlgorithm::es256);
  REQUIRE(token);
  const std::size_t first = token->find('.');
  const std::size_t second = token->find('.', first + 1);
  CHECK(from_base64(token->substr(0, first)) == R"({"alg":"ES256","typ":"JWT"})");
  CHECK(from_base64(token->substr(first + 1, second - first - 1)) == R"({"iss":"me"})");
  CHECK(from_base64(token->substr(second + 1))->size() == 64);
}

TEST_CASE("keys of another kind are refused") {
  CHECK(signed_jwt("{}", fresh_key(), JwtAlgorithm::rs256).error().message ==
        "RS256 needs a private key of RSA");
  CHECK(!signed_jwt("{}", "", JwtAlgorithm::es256));
  CHECK(!signed_jwt("{}", "-----BEGIN PRIVATE KEY-----\nxx\n", JwtAlgorithm::es256));
  CHECK(jwt_algorithm_of("none") == std::nullopt);
  CHECK(jwt_algorithm_of("RS256") == JwtAlgorithm::rs256);
}
