#include "base/jwt.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>

#include <fmt/format.h>

#include "base/base64.h"

namespace agentrt {
namespace {

constexpr int kHalfBytes = 32;  // of an ES256 signature
constexpr int kP256Bits = 256;

template <auto free_it>
struct Free {
  template <class T>
  void operator()(T* object) const {
    free_it(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;

// Never asks for a passphrase at a terminal.
int no_passphrase(char*, int, int, void*) { return 0; }

Result<Key> read_key(const std::string& text, JwtAlgorithm algorithm) {
  const std::unique_ptr<BIO, Free<BIO_free_all>> bytes(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  Key key(PEM_read_bio_PrivateKey(bytes.get(), nullptr, &no_passphrase, nullptr));
  if (!key)
    return fail(Code::invalid_params, "the private key is not an unencrypted key in PEM format");
  const bool fits = algorithm == JwtAlgorithm::rs256
                        ? EVP_PKEY_get_base_id(key.get()) == EVP_PKEY_RSA
                        : EVP_PKEY_get_base_id(key.get()) == EVP_PKEY_EC &&
                              EVP_PKEY_get_bits(key.get()) == kP256Bits;
  if (!fits)
    return fail(Code::invalid_params,
                fmt::format("{} needs a private key {}", name_of(algorithm),
                            algorithm == JwtAlgorithm::rs256 ? "of RSA" : "on the curve P-256"));
  return key;
}

// ES256 signatures are two numbers of fixed size; OpenSSL writes them in DER.
Result<std::string> halves_of(const std::string& der) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const std::unique_ptr<ECDSA_SIG, Free<ECDSA_SIG_free>> signature(
      d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())));
  std::string out(2 * kHalfBytes, '\0');
  auto* const bytes = reinterpret_cast<unsigned char*>(out.data());
  if (!signature ||
      BN_bn2binpad(ECDSA_SIG_get0_r(signature.get()), bytes, kHalfBytes) != kHalfBytes ||
      BN_bn2binpad(ECDSA_SIG_get0_s(signature.get()), bytes + kHalfBytes, kHalfBytes) != kHalfBytes)
    return fail(Code::internal, "the signature has an unexpected form");
  return out;
}

Result<std::string> signature_of(std::string_view text, EVP_PKEY* key) {
  const std::unique_ptr<EVP_MD_CTX, Free<EVP_MD_CTX_free>> context(EVP_MD_CTX_new());
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t size = 0;
  if (EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size()) != 1)
    return fail(Code::internal, "the private key cannot sign");
  std::string out(size, '\0');
  if (EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size, bytes,
                     text.size()) != 1)
    return fail(Code::internal, "the private key cannot sign");
  out.resize(size);
  return out;
}

}  // namespace

std::string_view name_of(JwtAlgorithm algorithm) {
  return algorithm == JwtAlgorithm::es256 ? "ES256" : "RS256";
}

std::optional<JwtAlgorithm> jwt_algorithm_of(std::string_view name) {
  if (name == "ES256") return JwtAlgorithm::es256;
  if (name == "RS256") return JwtAlgorithm::rs256;
  return std::nullopt;
}

Result<std::string> signed_jwt(std::string_view claims, const std::string& key,
                               JwtAlgorithm algorithm) {
  TRY_ASSIGN(const Key read, read_key(key, algorithm));
  std::string out = base64url(fmt::format(R"({{"alg":"{}","typ":"JWT"}})", name_of(algorithm)));
  out += "." + base64url(claims);
  TRY_ASSIGN(std::string signature, signature_of(out, read.get()));
  if (algorithm == JwtAlgorithm::es256) {
    TRY_ASSIGN(signature, halves_of(signature));
  }
  return out + "." + base64url(signature);
}

}  // namespace agentrt
